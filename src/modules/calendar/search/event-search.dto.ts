import { ApiProperty } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { OneOf, Uuid } from '../../../platform/http/input.decorators.js';
import { PageEnvelope, PageQuery } from '../../../platform/paging/page.dto.js';
import { QueryText } from '../../../platform/search/query-text.js';
import { QueryTime } from '../input/event-fields.dto.js';
import { CalendarEventResponse } from '../responses/event.response.js';

export class SearchEvents extends PageQuery {
  /**
   * At most 12 different words, in any language; an event must have all of them, in its title, categories, description or
   * location. Case and accents do not matter; a word of three letters or more also matches words that begin with it.
   * @example "planning"
   */
  @QueryText() q!: string;

  /** Only events of this calendar. */
  @IsOptional() @Uuid() calendar_id?: string;

  /**
   * Only events whose last instance ends after this time, RFC 3339 or a day in UTC. The search does not compare times of zones: an
   * event may end up to 29 hours earlier.
   */
  @QueryTime('2026-03-01') from?: string;
  /** Only events whose first instance starts before this time, or up to 26 hours later. */
  @QueryTime('2026-04-01') to?: string;

  /** Cancelled events are left out, returned alone, or included. */
  @IsOptional()
  @OneOf(['active', 'cancelled', 'all'], { required: false })
  state: 'active' | 'cancelled' | 'all' = 'active';
}

export class EventHighlightsResponse {
  /** The title: escaped text with `<mark>`. @example "<mark>Planning</mark>" */ title!: string;
  /**
   * Part of the location and description: escaped text with `<mark>`. Its beginning where it does not match.
   * @example "Room 1 Agenda: budget"
   */
  description!: string;
}

/** An event that matches: the series or the single event. */
export class EventSearchHitResponse extends CalendarEventResponse {
  /** Higher is better; words of the title count most, then categories. */
  @ApiProperty({ minimum: 0, example: 0.6079 }) score!: number;
  highlights!: EventHighlightsResponse;
}

export class EventSearchEnvelope extends PageEnvelope {
  events!: EventSearchHitResponse[];
  /** Number of matches. At 1,000 there may be more: the most recently changed ones are ranked. */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 1000, example: 1 }) total!: number;
  /** The `q` of the request. @example "planning" */ query!: string;
}
