/**
 * A success answer whose JSON is already text, as PostgreSQL shaped it: it goes to the client without being parsed and
 * written again. Only repositories make the text, so that one place owns each shape.
 */
export class JsonReply {
  constructor(
    readonly json: string,
    readonly options: { status?: number; etag?: string; location?: string } = {},
  ) {}
}
