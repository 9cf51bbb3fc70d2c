export class FieldProblemResponse {
  /** @example "title" */
  field!: string;
  /** @example "max_length" */
  code!: string;
  /** @example "title must be shorter than or equal to 512 characters" */
  message!: string;
}

/** Every answer other than success has this shape; some carry further members, named at their operation. */
export class ErrorResponse {
  /**
   * Stable, for programs.
   * @example "validation_failed"
   */
  error!: string;
  /**
   * For people; may change.
   * @example "Some fields are wrong; see details."
   */
  message!: string;
  details?: FieldProblemResponse[];
}
