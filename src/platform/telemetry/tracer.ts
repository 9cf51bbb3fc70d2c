import type { NextFunction, Request, Response } from 'express';

/** Values of a span. They contain no personal data and no secret: routes, names of statements, ids of workspaces, states. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

/** Kinds of spans other than requests. */
type SpanKindName = 'client' | 'consumer';

export interface SpanOptions {
  name: string;
  kind: SpanKindName;
  attributes: SpanAttributes;
  /** `root` starts a trace; `child` belongs to the current span and records nothing without one. */
  position: 'root' | 'child';
}

/** A span that has started. */
export interface OpenSpan {
  set(attributes: SpanAttributes): void;
  /** Marks the span as failed. @param type class or code of the error, not its text */
  fail(type: string): void;
  /** Adds the W3C headers that make the receiver continue the trace. */
  inject(headers: Record<string, unknown>): void;
}

/** Records spans. Implemented by the OpenTelemetry SDK, which is loaded only when the settings name an exporter. */
export interface Tracer {
  /** Runs the handlers of a request as a server span, which continues the trace of `traceparent` and ends with the response. */
  request(request: Request, response: Response, next: NextFunction): void;
  /** Runs `work` as a span. A rejection marks the span as failed and is passed on. */
  span<T>(options: SpanOptions, work: (span: OpenSpan) => Promise<T>): Promise<T>;
}

let current: Tracer | undefined;

/** The tracer of this process; undefined when traces are off. */
export const tracer = (): Tracer | undefined => current;

/** Sets the tracer of this process, before the application starts. */
export function setTracer(next: Tracer | undefined): void {
  current = next;
}

const NO_SPAN: OpenSpan = { set: () => undefined, fail: () => undefined, inject: () => undefined };

/** Runs `work` as a span when traces are on. */
export const runTraced = <T>(options: () => SpanOptions, work: (span: OpenSpan) => Promise<T>): Promise<T> =>
  current ? current.span(options(), work) : work(NO_SPAN);

/** Runs a statement as a span with its name when traces are on. Values and text are not recorded. */
export const tracedStatement = <T>(
  { name, home }: { name: string; home: string },
  work: () => Promise<T>,
): Promise<T> =>
  runTraced(
    () => ({
      name: name || 'unnamed statement',
      kind: 'client',
      attributes: {
        'db.system.name': 'postgresql',
        'db.query.summary': name || 'unnamed statement',
        'workspace.database': home,
      },
      position: 'child',
    }),
    work,
  );
