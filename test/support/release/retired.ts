/**
 * Parts of the previous release that no process of it uses, with the reason, by `what` of `Break`. Allowed: a part
 * that the release before it used and the previous release only declares. Emptied when a release is recorded.
 */
export const RETIRED: Record<string, string> = {};
