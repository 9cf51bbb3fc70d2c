import type { StoredSettings } from '../forms.entity.js';

/** The rules of closures that no user requests. */

type Quota = Pick<StoredSettings, 'max_responses'>;

export const isFull = ({ max_responses: max }: Quota, count: number): boolean => max !== null && count >= max;

/** Whether the end of the window closes a form. A full one was closed when it became full. */
export const isClosedByWindow = (settings: Quota, count: number): boolean => !isFull(settings, count);

/** Whether other settings close a form because they lower its quota to the number of responses or below. */
export const isClosedByQuota = (
  before: { accepting: boolean; settings: Quota },
  settings: Quota,
  count: number,
): boolean => before.accepting && isFull(settings, count) && !isFull(before.settings, count);
