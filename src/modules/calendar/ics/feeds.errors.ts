import { defineError } from '../../../platform/http/api-error.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';

export const FeedErrors = {
  feedNotFound: defineError(404, 'not_found', 'There is no such feed.'),
  tooManyFeeds: defineError(
    422,
    'too_many_feeds',
    `A user has at most ${QUOTAS.item.feeds_of_calendar} feeds of a calendar.`,
  ),
} as const;
