import { Module } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { ChatModule } from '../chat/index.js';
import { TenantsModule } from '../tenants/index.js';
import { CallAccess } from './call-access.js';
import { CallChanges, CallEnding, CallStarts } from './changes/call-changes.js';
import { CallServer, MissingCallServer } from './call-server.js';
import { CallsApi } from './calls.api.js';
import { CallNotifications } from './calls.notifications.js';
import { CallsRepository } from './calls.repository.js';
import { CallDeclines, CallDeclinesController } from './declines/declines.controller.js';
import { CallFanout } from './events/call-fanout.js';
import { ParticipantEvents, Reconciler } from './events/participant-events.js';
import { EventSignature, WebhookController } from './events/webhook.controller.js';
import {
  GuestModerationController,
  GuestModerationRepository,
  GuestModerationService,
} from './guests/moderation/moderation.controller.js';
import { GUEST_CONTROLLERS, GUEST_PROVIDERS } from './guests/guests.providers.js';
import { CallPublicEvents } from './events/call-public-events.js';
import { Kicks } from './changes/kicks.js';
import { MeetingsController, MeetingsRepository } from './meetings/meetings.controller.js';
import { ParticipantsRepository } from './participants.repository.js';
import { RecordingChanges } from './recordings/recording-changes.js';
import { RecordingDeletion, RecordingFiles } from './recordings/recording-files.js';
import { RecordingEvents } from './recordings/recording-events.js';
import { RecordingLinks, RecordingsService } from './recordings/recordings.service.js';
import { RecordingSockets } from './recordings/recording-sockets.js';
import { RecordingsController } from './recordings/recordings.controller.js';
import { RecordingsRepository } from './recordings/recordings.repository.js';
import { CallRoomsController, CallRoomsService } from './rooms/call-rooms.controller.js';
import { RoomCalls } from './rooms/room-calls.js';
import { ServerEvents } from './server-events.js';
import { ServerRooms } from './server-rooms.js';
import { TokensController, TokensRepository, TokensService } from './tokens/tokens.controller.js';
import { CallsPersonalData } from './calls-personal-data.js';

/** Without a media server, its SDK is not loaded. */
async function callServerOf(config: Config): Promise<CallServer> {
  if (config.LIVEKIT_URL === undefined) return new MissingCallServer();
  const { LiveKitCallServer } = await import('./livekit/livekit-call-server.js');
  return new LiveKitCallServer(config);
}

@Module({
  imports: [TenantsModule, ChatModule],
  controllers: [
    // They come before `GET call/:call_id`.
    ...GUEST_CONTROLLERS,
    WebhookController,
    TokensController,
    RecordingsController,
    MeetingsController,
    CallRoomsController,
    CallDeclinesController,
    GuestModerationController,
  ],
  providers: [
    CallsPersonalData,
    CallPublicEvents,
    { provide: CallServer, inject: [Config], useFactory: callServerOf },
    CallsRepository,
    ParticipantsRepository,
    CallAccess,
    CallsApi,
    CallChanges,
    CallStarts,
    CallEnding,
    Kicks,
    ServerEvents,
    EventSignature,
    ServerRooms,
    CallRoomsService,
    RoomCalls,
    TokensRepository,
    TokensService,
    MeetingsRepository,
    RecordingsRepository,
    RecordingChanges,
    RecordingLinks,
    RecordingFiles,
    RecordingsService,
    RecordingEvents,
    RecordingDeletion,
    RecordingSockets,
    GuestModerationRepository,
    GuestModerationService,
    Reconciler,
    ParticipantEvents,
    CallFanout,
    CallDeclines,
    CallNotifications,
    ...GUEST_PROVIDERS,
  ],
  exports: [CallsApi],
})
export class CallsModule {}
