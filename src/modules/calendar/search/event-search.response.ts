import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.response.js';
import { CalendarEventResponse } from '../responses/event.response.js';

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
