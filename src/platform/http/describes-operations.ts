/**
 * Whether decorators describe operations for openapi.json. In the bundle of the programs, which serve the committed document, it is
 * false (bin/lib/bundle.mjs): the descriptions took a tenth of the processor time of a start.
 */
export const DESCRIBES_OPERATIONS = true;
