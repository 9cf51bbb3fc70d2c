import { createServer, type Server } from 'node:http';
import type { Config } from '../../config/config.js';

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** `GET /metrics` on METRICS_PORT. It has its own port, so that a proxy does not publish it by accident. */
export class MetricsServer {
  private constructor(private readonly server: Server) {}

  /** @param render the metrics in the Prometheus text format */
  static async listen(
    config: Pick<Config, 'HOST' | 'METRICS_PORT'>,
    render: () => Promise<string>,
  ): Promise<MetricsServer> {
    const server = createServer((request, response) => {
      if (request.url !== '/metrics' || request.method !== 'GET') {
        response.writeHead(404).end();
        return;
      }
      render().then(
        (text) => response.writeHead(200, { 'Content-Type': CONTENT_TYPE }).end(text),
        () => response.writeHead(500).end(),
      );
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(config.METRICS_PORT, config.HOST, resolve);
    });
    return new MetricsServer(server);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
    });
  }
}
