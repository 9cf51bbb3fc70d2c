import { ApiProperty } from '@nestjs/swagger';
import { defineError } from '../../../platform/http/errors.js';
import { OneOf, Optional } from '../../../platform/http/input.decorators.js';
import { WholeListEnvelope } from '../../../platform/paging/page.dto.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';

export const FEED_DETAILS = ['full', 'busy'] as const;

export class CreateFeed {
  /** full: what you see. busy: times only. Default: full. */
  @Optional() @OneOf(FEED_DETAILS, { example: 'busy' }) details?: (typeof FEED_DETAILS)[number];
}

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

export class FeedResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ format: 'uuid', example: ID }) calendar_id!: string;
  /** full: what you see. busy: times only. */
  @ApiProperty({ enum: FEED_DETAILS, example: 'busy' }) details!: (typeof FEED_DETAILS)[number];
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' }) created_at!: string;
}

export class NewFeedResponse extends FeedResponse {
  /** The secret address, in this response only. @example "/apis/v1/calendar/feeds/AYkKXayWd0u8zrMCCZqAV2Zvb2JhcmJhenF1eGZvb2JhcmJhenF1eA.ics" */
  url!: string;
  /**
   * Our addition: the whole address, for programs; null unless the installation has a public address (PUBLIC_URL).
   * @example "https://work.example/apis/v1/calendar/feeds/AYkKXayWd0u8zrMCCZqAV2Zvb2JhcmJhenF1eGZvb2JhcmJhenF1eA.ics"
   */
  absolute_url!: string | null;
}

export class CreatedFeedEnvelope {
  feed!: NewFeedResponse;
}

export class FeedEnvelope {
  feed!: FeedResponse;
  @ApiProperty({ enum: [true], example: true }) deleted!: true;
}

export class FeedListEnvelope extends WholeListEnvelope {
  @ApiProperty({ type: [FeedResponse] }) feeds!: FeedResponse[];
}

export const FeedErrors = {
  feedNotFound: defineError(404, 'not_found', 'There is no such feed.'),
  tooManyFeeds: defineError(
    422,
    'too_many_feeds',
    `A user has at most ${QUOTAS.item.feeds_of_calendar} feeds of a calendar.`,
  ),
} as const;
