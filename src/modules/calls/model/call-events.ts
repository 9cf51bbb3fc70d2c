/** Events of the outbox. Payloads have `call_id`. */

/** A call became live: `user_id` is the caller who started it. */
export const CALL_STARTED = 'call.started';
/** A call ended: `started_at`, and `user_id` of the user who ended it. Both may be null. */
export const CALL_ENDED = 'call.ended';
/** The room of an ended call is to be deleted at the media server. */
export const CALL_ROOM_UNUSED = 'call.room_unused';
/** A participant connected to a call that is recorded from the start: `host_id`. */
export const CALL_JOINED = 'call.joined';
/** Members of the room of a call lost access. */
export const CALL_ACCESS_CHANGED = 'call.access_changed';
/** The media server has finished the file of a recording: `recording_id`. */
export const RECORDING_COMPLETE = 'call.recording_complete';
/** A recording failed: `recording_id`. */
export const RECORDING_FAILED = 'call.recording_failed';
/** A recording is in the blob store: `recording_id`. */
export const RECORDING_READY = 'call.recording_ready';
