export class HealthResponse {
  /** @example "ok" */ status!: 'ok';
}

export class ReadinessResponse extends HealthResponse {
  /**
   * The store of files. `full`: uploads return 507. `unavailable`: requests for files return 503. Other requests succeed.
   * @example "ok"
   */
  blob_store!: 'ok' | 'full' | 'unavailable';
  /**
   * The disk of the database. `full`: writes return 507, reads succeed. `unavailable`: the check failed for another reason.
   * @example "ok"
   */
  database_storage!: 'ok' | 'full' | 'unavailable';
}
