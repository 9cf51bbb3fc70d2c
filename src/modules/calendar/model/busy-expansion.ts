import { Turns } from '../../../lib/turns/index.js';
import { type BusyEvent, type BusyTime, busyTypeAt, merged } from './busy-times.js';
import { isSeries, type TimeWindow } from './event-series.js';
import { type Step, stepsOf } from './event-steps.js';

/**
 * The instances of all events of a query that are expanded: those of 100 members with six meetings a day for 62 days. It also bounds
 * the length of the response.
 */
export const BUSY_BUDGET = 40_000;

/** An event with the instants in seconds between which all its instances are, and the zone of its floating times and days. */
export interface BusySource extends BusyEvent {
  spanStart: number;
  spanEnd: number;
  zone: string;
}

/** The busy times of a calendar or a member in a window. */
export interface BusyResult {
  busy: BusyTime[];
  /** Series exceeded the budget: the rest of each of them, from its first unknown instance to its last one, is one busy time. */
  isApproximate: boolean;
}

interface Expansion {
  event: BusySource;
  /** The times of its calendar or member. */
  times: BusyTime[];
  window: TimeWindow;
  steps: Iterator<Step, void>;
  /** Instances that start before this instant are known. */
  until: number;
}

/**
 * Expands the events of a query within one budget, and merges their times: the state with the highest precedence covers the others.
 * Cancelled, free and declined events occupy no time; an event without a response is tentative.
 *
 * Each calendar or member has an equal share of the budget; what some do not use, others do. Within a share the steps of the events
 * alternate. So the series of one member do not make the times of others approximate, and events with few instances are complete
 * before a dense series has used up the share.
 */
export class BusyExpansion {
  private readonly subjects: { times: BusyTime[]; queue: Expansion[] }[] = [];

  /** @param budget instances */
  constructor(
    private readonly turns = new Turns(),
    private readonly budget = BUSY_BUDGET,
  ) {}

  /** Adds a calendar or a member. @param known further times */
  add(
    events: readonly BusySource[],
    { from, to }: Omit<TimeWindow, 'readerZone'>,
    known: readonly BusyTime[] = [],
  ): void {
    const times = [...known];
    const queue = events.filter(mayOccupy).map((event) => {
      const window = { from, to, readerZone: event.zone };
      return { event, times, window, steps: stepsOf(event, window), until: event.spanStart };
    });
    this.subjects.push({ times, queue });
  }

  /** @returns a result for each `add`, in their order */
  async run(): Promise<BusyResult[]> {
    const share = this.budget / this.subjects.length;
    let rest = 0;
    for (const subject of this.subjects) {
      const left = await this.expand(subject.queue, share);
      subject.queue = left.unfinished;
      rest += left.budget;
    }
    for (const subject of this.subjects) {
      const left = await this.expand(subject.queue, rest);
      subject.queue = left.unfinished;
      rest = left.budget;
    }
    const results: BusyResult[] = [];
    for (const { times, queue } of this.subjects) {
      const isApproximate = queue.filter((expansion) => this.cover(expansion)).length > 0;
      results.push({ busy: merged(times), isApproximate });
      await this.turns.pause();
    }
    return results;
  }

  /** Expands events in alternating steps until they are complete or the budget is used up. Single events are always complete. */
  private async expand(
    queue: readonly Expansion[],
    budget: number,
  ): Promise<{ unfinished: Expansion[]; budget: number }> {
    let open = [...queue];
    let left = budget;
    do {
      const unfinished: Expansion[] = [];
      for (const expansion of open) {
        const cost = left > 0 || !isSeries(expansion.event) ? this.step(expansion) : 0;
        left -= cost;
        if (expansion.until < expansion.window.to) unfinished.push(expansion);
        await this.turns.pause();
      }
      open = unfinished;
    } while (open.length > 0 && left > 0);
    return { unfinished: open, budget: Math.max(0, left) };
  }

  /** @returns the cost of the step */
  private step(expansion: Expansion): number {
    const { event, times, window, steps } = expansion;
    const { value: step } = steps.next();
    expansion.until = step?.until ?? Number.POSITIVE_INFINITY;
    for (const occurrence of step?.found ?? []) {
      const type = busyTypeAt(event, occurrence);
      const start = Math.max(occurrence.start, window.from);
      const end = Math.min(occurrence.end, window.to);
      if (type && end > start) times.push({ start, end, type });
    }
    return step?.cost ?? 0;
  }

  /** Covers the rest of an event with one busy time. @returns false if the event has no time left in the window */
  private cover({ event, times, window, until }: Expansion): boolean {
    const start = Math.max(until, window.from);
    const end = Math.min(event.spanEnd, window.to);
    const type = busyTypeAt(event, { key: null, override: null }) ?? 'tentative';
    if (end > start) times.push({ start, end, type });
    return end > start;
  }
}

/** False for an event that is free as a whole. An instance may differ from its series. */
function mayOccupy(event: BusyEvent): boolean {
  const isUniform =
    event.overrides.length === 0 && event.responses.every(({ recurrence_key }) => recurrence_key === '');
  return (isSeries(event) && !isUniform) || busyTypeAt(event, { key: null, override: null }) !== null;
}
