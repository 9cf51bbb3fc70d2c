import {
  type Component,
  component,
  parameterOf,
  propertiesOf,
  propertyOf,
} from '../../../lib/icalendar/index.js';
import { parseWallTime, Zone } from '../../../lib/recurrence/index.js';
import { boundWall } from './rules/task-times.js';
import type { Occurrence } from './task-recurrence.js';
import { dueOf, instantText, momentOf, readable, type TodoClock } from './todo-values.js';
import { utcTime } from './todo-writer.js';

/** Moves an instant, in seconds. */
type MoveInstant = (instant: number) => number;

/**
 * Moves instants as far as a due date moves, on the clock of a zone: what rings at nine in the evening before rings at nine.
 * @param from,to due dates on this clock, seconds; null: there is none, and nothing moves
 */
export function instantMover(from: number | null, to: number | null, zoneName: string): MoveInstant {
  if (from === null || to === null || from === to) return (instant) => instant;
  const zone = Zone.of(zoneName);
  return (instant) => zone.toInstant(boundWall(zone.toWall(instant) + to - from));
}

/** The due date of a VTODO on the clock of its task; null without a readable one. */
export function dueWallOf(todo: Component, clock: TodoClock): number | null {
  const due = readable(() => dueOf(todo, clock));
  if (!due) return null;
  return due.isDate ? due.wall : Zone.of(clock.zone).toWall(due.instant);
}

/** The date of an occurrence on the clock of its task. */
export const wallOfDate = (
  { date, dueAt }: Pick<Occurrence, 'date' | 'dueAt'>,
  zoneName: string,
): number | null =>
  dueAt === null ? parseWallTime(date) : Zone.of(zoneName).toWall(Math.floor(dueAt.getTime() / 1000));

/** An alarm at a fixed moment, moved; another one as it is. */
export function movedAlarm(alarm: Component, move: MoveInstant, clock: TodoClock): Component {
  const trigger = propertyOf(alarm, 'TRIGGER');
  if (!trigger || !/^\s*\d{8}T/i.test(trigger.value)) return alarm;
  const moment = readable(() => momentOf(trigger, clock));
  const instant = moment && move(moment.instant);
  if (!moment || instant === null || instant === moment.instant) return alarm;
  const moved = {
    ...trigger,
    parameters: trigger.parameters.filter(({ name }) => name !== 'TZID'),
    value: utcTime(instantText(instant)),
  };
  const properties = alarm.properties.map((each) => (each === trigger ? moved : each));
  return component(alarm.name, properties, alarm.components);
}

/** Whether an alarm repeats another one that the user snoozed (RFC 9074, 7.1). */
export const isSnoozed = (alarm: Component): boolean =>
  propertiesOf(alarm, 'RELATED-TO').some((each) => parameterOf(each, 'RELTYPE')?.toUpperCase() === 'SNOOZE');
