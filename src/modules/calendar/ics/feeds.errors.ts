import { defineError } from '../../../platform/http/api-error.js';

export const FeedErrors = {
  feedNotFound: defineError(404, 'not_found', 'There is no such feed.'),
  tooManyFeeds: defineError(422, 'too_many_feeds', 'A user has at most 20 feeds of a calendar.'),
} as const;
