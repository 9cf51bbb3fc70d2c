import type { RecordingState } from '../calls.entity.js';
import type { ServerRecording, ServerRecordingState } from '../call-server.js';

/** Days after which a finished recording is deleted. */
const KEEP_DAYS = 90;
const DAY_MS = 86_400_000;

/** States in their order. A recording never returns to an earlier state, so that the order of events does not matter. */
const RANK: Record<RecordingState, number> = {
  starting: 0,
  active: 1,
  stopping: 2,
  failed: 3,
  aborted: 3,
  // Above `failed`: the file may be complete although the recording was marked as failed without an event.
  processing: 4,
  ready: 5,
};

const STATES: Record<ServerRecordingState, RecordingState> = {
  starting: 'starting',
  active: 'active',
  ending: 'stopping',
  failed: 'failed',
  aborted: 'aborted',
  complete: 'processing',
  limit_reached: 'processing',
};

/** The state after a report of the media server. */
export function nextState(current: RecordingState, reported: ServerRecordingState): RecordingState {
  const next = STATES[reported];
  return RANK[next] > RANK[current] ? next : current;
}

/** Whether a recording has reached its last state. */
export const isFinished = (state: RecordingState): boolean =>
  state === 'ready' || state === 'failed' || state === 'aborted';

/** The time at which a recording that finishes now is deleted. */
export const expiry = (): Date => new Date(Date.now() + KEEP_DAYS * DAY_MS);

/** Whether the media server still records although the recording was stopped or has failed. */
export const mustStop = (current: RecordingState, { state }: ServerRecording): boolean =>
  (state === 'starting' || state === 'active') && RANK[current] >= RANK.stopping;
