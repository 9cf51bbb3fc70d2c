import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer as OtelTracer,
} from '@opentelemetry/api';
import type { NextFunction, Response } from 'express';
import { type LoggedRequest, statusOf } from '../access-log.js';
import type { OpenSpan, SpanAttributes, SpanOptions, Tracer } from '../../telemetry/tracer.js';

const KINDS = { client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER } as const;

/** Records spans by the OpenTelemetry API. */
export class SdkTracer implements Tracer {
  constructor(private readonly otel: OtelTracer) {}

  request(request: LoggedRequest, response: Response, next: NextFunction): void {
    const { method } = request;
    // A request of a batch belongs to the request with the batch.
    const active = context.active();
    const parent = trace.getSpan(active) ? active : propagation.extract(ROOT_CONTEXT, request.headers);
    const options = { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } };
    const span = this.otel.startSpan(method, options, parent);
    response.once('close', () => {
      const { route, status } = statusOf(request, response);
      const { ctx, tenantId = null } = request;
      const tenant = ctx?.tenantId ?? tenantId;
      if (route !== undefined) {
        span.updateName(`${method} ${route}`);
        span.setAttribute('http.route', route);
      }
      span.setAttribute('http.response.status_code', status);
      if (request.id !== undefined) span.setAttribute('workspace.request_id', request.id);
      if (tenant !== null) span.setAttribute('workspace.tenant_id', tenant);
      if (status >= 500) failed(span, String(status));
      span.end();
    });
    context.with(trace.setSpan(parent, span), next);
  }

  async span<T>(
    { name, kind, attributes, position }: SpanOptions,
    work: (span: OpenSpan) => Promise<T>,
  ): Promise<T> {
    const parent = position === 'root' ? ROOT_CONTEXT : context.active();
    if (position === 'child' && !trace.getSpan(parent)) return work(new SdkSpan(undefined, parent));
    const span = this.otel.startSpan(name, { kind: KINDS[kind], attributes }, parent);
    const inner = trace.setSpan(parent, span);
    try {
      return await context.with(inner, () => work(new SdkSpan(span, inner)));
    } catch (error) {
      failed(span, typeOf(error));
      throw error;
    } finally {
      span.end();
    }
  }
}

class SdkSpan implements OpenSpan {
  constructor(
    private readonly span: Span | undefined,
    private readonly context: Context,
  ) {}

  set(attributes: SpanAttributes): void {
    this.span?.setAttributes(attributes);
  }

  fail(type: string): void {
    if (this.span) failed(this.span, type);
  }

  inject(headers: Record<string, unknown>): void {
    if (this.span) propagation.inject(this.context, headers);
  }
}

function failed(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Code or class of an error. Its text may contain personal data. */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : error.name;
}
