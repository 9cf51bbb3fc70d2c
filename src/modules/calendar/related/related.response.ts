import { ApiProperty } from '@nestjs/swagger';

const REASONS = ['link', 'title', 'attendee', 'time'] as const;

/** An item that you can read. */
export class RelatedItemResponse {
  /** For a message: `<mailbox>/<message>`, as in its path. @example "01890a5d-ac96-774b-bcce-b302099a8057" */
  id!: string;
  /** @example "Budget" */ title!: string;
  /** link: the event links to it. title: it has words of the subject. attendee: it concerns an attendee. time: it takes place then. */
  @ApiProperty({ enum: REASONS, example: 'title' }) reason!: (typeof REASONS)[number];
  /** 0 to 1; higher is better. */
  @ApiProperty({ minimum: 0, maximum: 1, example: 0.6 }) score!: number;
  /** For an event its start, for other items the last change. */
  @ApiProperty({ format: 'date-time', example: '2026-03-02T08:00:00Z' }) date!: string | null;
}

/** Items by type, best first. A type that was not requested, or without items, is empty. */
export class RelatedItemsResponse {
  events!: RelatedItemResponse[];
  notes!: RelatedItemResponse[];
  tasks!: RelatedItemResponse[];
  /** Among the newest messages of your inbox and your sent messages. */ messages!: RelatedItemResponse[];
  contacts!: RelatedItemResponse[];
  rooms!: RelatedItemResponse[];
}

export class RelatedEnvelope {
  related!: RelatedItemsResponse;
}
