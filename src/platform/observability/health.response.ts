export class HealthResponse {
  /** @example "ok" */
  status!: 'ok';
}

export class ReadinessResponse extends HealthResponse {
  /**
   * Without it requests for files answer 503; all others are served.
   * @example "ok"
   */
  blob_store!: 'ok' | 'unavailable';
}
