import { once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../support/until.ts';
import { cleanUp, freePort } from './support/processes.ts';
import { launch, OWN_MAIL, type Server, started } from './support/server.ts';

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number | string; doubleValue?: number };
}

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Attribute[];
  /** Attributes of the process. */
  resource: Record<string, unknown>;
}

interface Metric {
  name: string;
  histogram?: { dataPoints: { attributes: Attribute[]; count: number | string; bucketCounts: unknown[] }[] };
  sum?: { isMonotonic: boolean };
}

const SERVER = 2;
const CLIENT = 3;
const CONSUMER = 5;
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

/** Reports on stderr each module of the SDK that a process loads. prom-client loads the API package. */
const REPORT_MODULES = `--import=data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({ load(url, context, next) {
    const name = /@opentelemetry\\/(?!api\\/)[\\w-]+/.exec(url);
    if (name) process.stderr.write('loaded ' + name[0] + '\\n');
    return next(url, context);
  } });`)}`;

const valueOf = ({ value }: Attribute) => value.stringValue ?? value.doubleValue ?? Number(value.intValue);

const recordOf = (attributes: Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map((attribute) => [attribute.key, valueOf(attribute)]));

/** A collector that receives OTLP over HTTP in JSON. */
class Collector {
  readonly spans: Span[] = [];
  readonly metrics: Metric[] = [];
  /** All bodies. */
  text = '';

  private constructor(private readonly server: HttpServer) {}

  static async listen(): Promise<Collector> {
    const collector = new Collector(
      createServer((request, response) => {
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          collector.receive(request.url ?? '', Buffer.concat(chunks).toString());
          response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
        });
      }),
    );
    collector.server.listen(0, '127.0.0.1');
    await once(collector.server, 'listening');
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  /** The span with the name in the trace. @param process value of `workspace.process` */
  find(traceId: string, name: string, process = 'api'): Span | undefined {
    return this.spans.find(
      (span) =>
        span.traceId === traceId && span.name === name && span.resource['workspace.process'] === process,
    );
  }

  private receive(url: string, text: string): void {
    this.text += text;
    const body = JSON.parse(text);
    if (url === '/v1/traces')
      for (const { resource, scopeSpans } of body.resourceSpans)
        for (const { spans } of scopeSpans)
          for (const span of spans) this.spans.push({ ...span, resource: recordOf(resource.attributes) });
    if (url === '/v1/metrics')
      for (const { scopeMetrics } of body.resourceMetrics)
        for (const { metrics } of scopeMetrics) this.metrics.push(...metrics);
  }
}

const tokenOf = (server: Server) => until('the demo token', () => /^eyJ\S+$/m.exec(server.stdout())?.[0]);

function request(
  server: Server,
  token: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: object } = {},
): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.port}/apis/v1${path}`, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
}

describe('OpenTelemetry', () => {
  let collector: Collector;
  beforeAll(async () => {
    collector = await Collector.listen();
  });
  afterEach(cleanUp);
  afterAll(() => {
    collector?.close();
  });

  test('a collector receives spans of requests, statements, events and the mail service, and the metrics', async () => {
    const server = await started(
      await launch({
        DEMO: 'true',
        NODE_OPTIONS: REPORT_MODULES,
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_METRIC_EXPORT_INTERVAL: '500',
        OTEL_SERVICE_NAME: 'workspace-test',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      }),
    );
    expect(server.stderr()).toContain('loaded @opentelemetry/sdk-trace');
    const token = await tokenOf(server);
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01`, 'x-request-id': 'traced' };
    expect((await request(server, token, '/notes?q=SECRET-query', { headers })).status).toBe(200);
    const mailTrace = TRACE.replace('0af', '1af');
    const mailHeaders = { traceparent: `00-${mailTrace}-${PARENT}-01` };
    expect((await request(server, token, '/mail/users/me/mailboxes', { headers: mailHeaders })).status).toBe(
      200,
    );
    const writeTrace = TRACE.replace('0af', '2af');
    const written = await request(server, token, '/notes', {
      headers: { traceparent: `00-${writeTrace}-${PARENT}-01` },
      body: { title: 'SECRET-title', content: '<p>SECRET-content</p>' },
    });
    expect(written.status).toBe(201);

    const read = await until('the span of the request', () => collector.find(TRACE, 'GET /apis/v1/notes'));
    expect(read).toMatchObject({ kind: SERVER, parentSpanId: PARENT });
    expect(read.resource).toMatchObject({
      'service.name': 'workspace-test',
      'deployment.environment.name': 'test',
    });
    expect(recordOf(read.attributes)).toMatchObject({
      'http.request.method': 'GET',
      'http.route': '/apis/v1/notes',
      'http.response.status_code': 200,
      'workspace.request_id': 'traced',
      'workspace.tenant_id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const statements = collector.spans.filter(({ parentSpanId }) => parentSpanId === read.spanId);
    expect(statements.length).toBeGreaterThan(0);
    for (const { kind, traceId, name, attributes } of statements) {
      expect([kind, traceId]).toEqual([CLIENT, TRACE]);
      expect(recordOf(attributes)).toMatchObject({
        'db.system.name': 'postgresql',
        'db.query.summary': name,
      });
    }

    const write = await until('the span of the write', () =>
      collector.find(writeTrace, 'POST /apis/v1/notes'),
    );
    expect(collector.spans.some(({ parentSpanId }) => parentSpanId === write.spanId)).toBe(true);
    const event = await until('a delivery of the outbox', () =>
      collector.spans.find(({ name }) => name.startsWith('outbox note')),
    );
    expect(event.kind).toBe(CONSUMER);

    const mail = await until('the request to the mail service', () =>
      collector.find(mailTrace, 'GET /users/me/mailboxes'),
    );
    expect(mail.kind).toBe(CLIENT);
    expect(mail.parentSpanId).toBe(collector.find(mailTrace, 'GET /apis/v1/mail/users/me/mailboxes')?.spanId);
    const received = await until('the request at the mail service', () =>
      collector.spans.find(({ parentSpanId }) => parentSpanId === mail.spanId),
    );
    expect(received).toMatchObject({ kind: SERVER, traceId: mailTrace });
    expect(received.resource['workspace.process']).toBe('mail-service');

    const histogram = await until('the metric of the request', () =>
      collector.metrics
        .find(
          ({ name, histogram: data }) =>
            name === 'http_request_duration_seconds' &&
            data?.dataPoints.some(
              ({ attributes }) => recordOf(attributes)['route'] === '/apis/v1/mail/users/me/mailboxes',
            ),
        )
        ?.histogram?.dataPoints.find(
          ({ attributes }) => recordOf(attributes)['route'] === '/apis/v1/mail/users/me/mailboxes',
        ),
    );
    expect(Number(histogram.count)).toBe(1);
    expect(histogram.bucketCounts).toHaveLength(14);
    expect(histogram.bucketCounts.map(Number).reduce((sum, count) => sum + count, 0)).toBe(1);
    const counter = collector.metrics.find(({ name }) => name === 'database_round_trips_total');
    expect(counter?.sum?.isMonotonic).toBe(true);
    // The first exports may lack them, because their query took too long.
    await until('the metrics of the database', () =>
      collector.metrics.some(({ name }) => name === 'outbox_events'),
    );

    expect(collector.text).not.toContain('SECRET');
    expect(collector.text).not.toContain(token);
  });

  test('without the variables no module of the SDK is loaded', async () => {
    const server = await started(await launch({ ...OWN_MAIL, NODE_OPTIONS: REPORT_MODULES }));
    expect((await request(server, 'none', '/notes')).status).toBe(401);
    expect(server.stderr()).not.toContain('loaded @opentelemetry');
  });

  test('a collector that is down does not change responses and is logged once', async () => {
    const server = await started(
      await launch({
        ...OWN_MAIL,
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
        OTEL_EXPORTER_OTLP_TIMEOUT: '200',
        OTEL_METRICS_EXPORTER: 'none',
      }),
    );
    const lines = () => server.stdout().split('the collector does not accept telemetry').length - 1;
    expect((await request(server, 'none', '/notes')).status).toBe(401);
    await until('the log entry', () => lines() > 0);
    expect((await request(server, 'none', '/notes')).status).toBe(401);
    server.child.kill('SIGTERM');
    expect(await server.exit).toBe(0);
    expect(lines()).toBe(1);
  });
});
