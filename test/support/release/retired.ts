/**
 * Parts of the previous release that none of its processes uses, with the reason; keys are `what` of `Break`. A part may be
 * listed if the release before used it and the previous release only declares it. The list is emptied when a release is recorded.
 */
export const RETIRED: Record<string, string> = {};
