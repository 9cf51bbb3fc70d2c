import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Bus } from '../../../platform/bus/bus.js';
import { Db } from '../../../platform/database/db.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import type { Connection } from '../../../platform/realtime/connection.js';
import { UserConnections } from '../../../platform/realtime/user-connections.js';
import { PresenceEvents } from '../presence-events.js';
import { type Device, PresenceOptions, PresenceWrites } from '../presence-writes.js';
import { PresenceRepository } from '../presence.repository.js';

/** Minimum time between two sweeps, and maximum delay of a sweep, in milliseconds. */
const PAUSE_MS = 1_000;

/**
 * The times of the sweeps after the ends of grace periods. One sweep serves all grace periods that end within `PAUSE_MS`.
 * All times are milliseconds of the same clock.
 */
export class SweepTimes {
  /** Ascending. */
  private readonly times: number[] = [];

  /** The next sweep; undefined without one. */
  get next(): number | undefined {
    return this.times[0];
  }

  /** Plans a sweep for a grace period that ends at this time, unless a planned sweep follows within `PAUSE_MS`. */
  add(end: number): void {
    if (this.times.some((time) => time >= end && time <= end + PAUSE_MS)) return;
    const before = this.times.findLast((time) => time < end) ?? Number.NEGATIVE_INFINITY;
    this.times.push(Math.max(end, before + PAUSE_MS));
    this.times.sort((a, b) => a - b);
  }

  /** A sweep begins: it covers all grace periods that have ended. */
  begin(now: number): void {
    while (this.times[0] !== undefined && this.times[0] <= now) this.times.shift();
  }
}

/** Devices that one statement writes. */
const BATCH = 1_000;
/** Maximum number of rooms that a device shows at once. A further room replaces the oldest one. */
const MAX_ROOMS = 20;
const SWEEP_SECONDS = 15;
/** A timer may fire this much too early, when the grace period has not ended for the database. */
const TIMER_MARGIN_MS = 1;

/**
 * Writes the sockets of this process as devices of their users. New and changed devices are collected for a moment and written
 * together; a heartbeat extends all of them. A device that disconnects expires after a grace period, so that a reconnect changes
 * nothing. The devices of a process that crashes expire because they have no more heartbeats.
 */
@Injectable()
export class PresenceDevices implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(PresenceDevices.name);
  private readonly devices = new Map<Connection, Device>();
  private changed = new Set<Device>();
  private left: Device[] = [];
  private writing: Promise<void> = Promise.resolve();
  private collecting: NodeJS.Timeout | undefined;
  private heartbeat: NodeJS.Timeout | undefined;
  private sweeping: NodeJS.Timeout | undefined;
  private readonly sweeps = new SweepTimes();

  constructor(
    private readonly connections: UserConnections,
    private readonly repository: PresenceRepository,
    private readonly writes: PresenceWrites,
    private readonly events: PresenceEvents,
    private readonly options: PresenceOptions,
    private readonly jobs: PeriodicJobs,
    private readonly bus: Bus,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.connections.onAdd((connection) => this.add(connection));
    this.connections.onRemove((connection) => this.remove(connection));
    // The table of devices is unlogged: a crash of PostgreSQL empties it.
    this.bus.onLoss(() => void this.beat());
    this.heartbeat = setInterval(() => void this.beat(), this.options.heartbeatSeconds * 1_000).unref();
    const run = () => this.sweep();
    this.jobs.register({ name: 'presence.sweep', everySeconds: SWEEP_SECONDS, run });
  }

  /** After the sockets of the process have closed. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.heartbeat);
    clearTimeout(this.sweeping);
    await this.flush();
  }

  /** Records whether the user of the socket is active on its device. */
  setActive(connection: Connection, active: boolean): void {
    const device = this.devices.get(connection);
    if (!device || device.active === active) return;
    device.active = active;
    this.change(device);
  }

  view(connection: Connection, roomId: string, isOpen: boolean): void {
    const device = this.devices.get(connection);
    if (!device) return;
    const others = device.rooms.filter((room) => room !== roomId);
    device.rooms = isOpen ? [...others, roomId].slice(-MAX_ROOMS) : others;
    this.change(device);
  }

  /** Writes the collected changes now. */
  async flush(): Promise<void> {
    clearTimeout(this.collecting);
    this.collecting = undefined;
    await this.inOrder(() => this.write());
  }

  /** Extends the life of all devices of this process, and writes missing ones again. */
  async beat(): Promise<void> {
    await this.inOrder(() => this.extend());
  }

  private async extend(): Promise<void> {
    const missing = new Set<Device>();
    await this.inCells([...this.devices.values()], async (batch) => {
      const found = await this.writes.beat(batch, this.options.lifetimeSeconds);
      for (const device of batch) if (!found.has(device.id)) missing.add(device);
    });
    this.changeConnected(missing);
    // Retries changes and disconnections that could not be written before.
    if (this.changed.size > 0 || this.left.length > 0) this.collect();
  }

  /** Removes expired devices of all processes. */
  async sweep(): Promise<void> {
    for (let isMore = true; isMore;) {
      const changes = await this.writes.sweep(BATCH, this.options.lifetimeSeconds);
      this.events.publish(changes);
      // A batch without a change may be followed by others: users keep their status while they have another device.
      isMore = changes.length > 0 || (await this.repository.isSweepDue());
    }
  }

  private add(connection: Connection): void {
    const { tenantId, userId, sessionId } = connection.ctx;
    if (tenantId === null) return;
    const key = { tenant_id: tenantId, user_id: userId, id: connection.id };
    const device = { ...key, active: true, rooms: [], session_id: sessionId };
    this.devices.set(connection, device);
    this.change(device);
  }

  private remove(connection: Connection): void {
    const device = this.devices.get(connection);
    if (!device) return;
    this.devices.delete(connection);
    this.changed.delete(device);
    this.left.push(device);
    this.collect();
  }

  private change(device: Device): void {
    this.changed.add(device);
    this.collect();
  }

  /** Writes those of these devices that have not disconnected meanwhile. */
  private changeConnected(devices: ReadonlySet<Device>): void {
    for (const device of this.devices.values()) if (devices.has(device)) this.changed.add(device);
  }

  private collect(): void {
    this.collecting ??= setTimeout(() => void this.flush(), this.options.collectMs).unref();
  }

  /** Runs writes one after another, so that no heartbeat extends a device whose disconnection is written. */
  private inOrder(write: () => Promise<void>): Promise<void> {
    this.writing = this.writing.then(write);
    return this.writing;
  }

  private async write(): Promise<void> {
    const { changed, left } = this;
    this.changed = new Set();
    this.left = [];
    const { lifetimeSeconds, graceSeconds } = this.options;
    const failed = await this.inCells([...changed], async (batch) =>
      this.events.publish(await this.writes.join(batch, lifetimeSeconds)),
    );
    this.changeConnected(new Set(failed));
    if (left.length === 0) return;
    this.left.push(...(await this.inCells(left, (batch) => this.writes.leave(batch, graceSeconds))));
    this.sweepLater();
  }

  /**
   * Writes devices in batches, in each cell by itself: a failure in one cell does not affect the devices of the others.
   * @returns the devices of cells with a failure
   */
  private async inCells(
    devices: readonly Device[],
    write: (batch: readonly Device[]) => Promise<void>,
  ): Promise<Device[]> {
    const failed = (some: readonly Device[]) => (error: unknown) => {
      this.logger.warn({ err: error }, 'presence not written; the next heartbeat repeats it');
      return [...some];
    };
    const inBatches = async (own: readonly Device[]): Promise<Device[]> => {
      for (let at = 0; at < own.length; at += BATCH) await write(own.slice(at, at + BATCH));
      return [];
    };
    const inCell = (own: readonly Device[]) => inBatches(own).catch(failed(own));
    return this.db.byCell(devices, ({ tenant_id }) => tenant_id, inCell).catch(failed(devices));
  }

  /** Plans a sweep for the end of the grace period that begins now. */
  sweepLater(): void {
    this.sweeps.add(performance.now() + this.options.graceSeconds * 1_000);
    this.startTimer();
  }

  private startTimer(): void {
    const at = this.sweeps.next;
    if (this.sweeping || at === undefined) return;
    const delay = Math.max(0, at - performance.now()) + TIMER_MARGIN_MS;
    this.sweeping = setTimeout(() => void this.sweepAll(), Math.ceil(delay)).unref();
  }

  private async sweepAll(): Promise<void> {
    this.sweeps.begin(performance.now());
    await this.db
      .inEachCell(() => this.sweep())
      .catch((error: unknown) => this.logger.warn({ err: error }, 'presence not swept; a job repeats it'));
    this.sweeping = undefined;
    this.startTimer();
  }
}
