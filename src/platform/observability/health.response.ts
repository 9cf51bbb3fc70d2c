export class HealthResponse {
  /** @example "ok" */
  status!: 'ok';
}
