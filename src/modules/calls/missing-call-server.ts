import { CallServer } from './call-server.js';
import { CallErrors } from './calls.errors.js';

/** An installation without a media server: every method throws 503 `call_server_not_configured`. */
export class MissingCallServer extends CallServer {
  override readonly isConfigured = false;
  override readonly canRecord = false;

  override get clientUrl(): string {
    throw CallErrors.serverNotConfigured.with();
  }

  override createRoom = reject;
  override deleteRoom = reject;
  override mintToken = reject;
  override removeParticipant = reject;
  override makeListener = reject;
  override listRooms = reject;
  override listParticipants = reject;
  override startRecording = reject;
  override stopRecording = reject;
  override listRecordings = reject;
  override assertSigned = reject;
  override receiveEvent = reject;
}

async function reject(): Promise<never> {
  throw CallErrors.serverNotConfigured.with();
}
