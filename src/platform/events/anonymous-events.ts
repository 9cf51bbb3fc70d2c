import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';

/**
 * Acts of users whom nobody may identify, which their exact time could do. Payloads of events and data of notifications about such an
 * act have `anonymous: true`; their ids have no time, and their times are shown to the minute.
 */
export const isAnonymous = (facts: Readonly<Record<string, unknown>>): boolean => facts['anonymous'] === true;

/** @returns a new id, without the time for an anonymous act */
export const makeId = (isOfAnonymous: boolean): string => (isOfAnonymous ? randomUUID() : uuidv7());

const MINUTE_MS = 60_000;

export const cutToMinute = (time: Date): Date => new Date(Math.floor(time.getTime() / MINUTE_MS) * MINUTE_MS);

/** Whether a time may be one that was cut: what follows from it is shown no more exactly. */
export const isToMinute = (time: Date): boolean => time.getTime() % MINUTE_MS === 0;
