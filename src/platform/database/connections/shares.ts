import type { Use } from '../../current-work/current-work.js';

/** Numbers of connections of a database by their use. */
export type Shares = Readonly<Record<Use, number>>;

/** Share of jobs in the connections of requests and jobs. */
const OF_JOBS = 0.3;
/** Connections of a process to the database of the directory for itself, besides those of requests and jobs. */
const OF_PROCESS = 2;
/** A cell with at least this number of connections keeps one of them for the process. */
const ENOUGH = 4;

/** The shares of the database of the directory. @param count connections of requests and jobs */
export const sharesOfMain = (count: number): Shares => divide(count, OF_PROCESS);

/**
 * The shares of a cell. Small cells have none for the process, which depends on the database of the directory only; requests and jobs
 * use a single connection by turns.
 * @param count all connections
 */
export const sharesOfCell = (count: number): Shares =>
  count < ENOUGH ? divide(count, 0) : divide(count - 1, 1);

/** Requests and jobs each use all connections. */
export const undivided = (count: number): Shares => ({ requests: count, jobs: count, process: 0 });

function divide(count: number, process: number): Shares {
  const jobs = Math.max(1, Math.round(count * OF_JOBS));
  return { requests: Math.max(1, count - jobs), jobs, process };
}

/** The connections that the shares need together. */
export const sumOf = ({ requests, jobs, process }: Shares): number => requests + jobs + process;
