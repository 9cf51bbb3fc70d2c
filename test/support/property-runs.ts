/** Properties that ask for few cases make all of them. */
const FEW = 25;
const { PROPERTY_RUNS = '0.1' } = process.env;
/** The part of a thorough search that this run makes. */
export const SHARE = Number(PROPERTY_RUNS);

/**
 * The number of cases of a property in this run: PROPERTY_RUNS of a thorough search, by default a tenth and at least 25.
 * @param thorough cases of a thorough search, `PROPERTY_RUNS=1`
 */
export const runs = (thorough: number): number =>
  Math.ceil(Math.max(thorough * SHARE, Math.min(thorough, FEW)));
