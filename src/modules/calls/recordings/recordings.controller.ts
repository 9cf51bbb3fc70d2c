import { Controller, Param, Query } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { DOWNLOAD_ERRORS } from '../../../platform/blobs/file-errors.dto.js';
import { ApiDownload } from '../../../platform/blobs/download-docs.js';
import { Public } from '../../../platform/context/access.decorators.js';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import type { ContentReply } from '../../../platform/http/replies/content-reply.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { Errors } from '../../../platform/http/errors.js';
import { CallErrors } from '../calls.dto.js';
import {
  DeletedRecordingEnvelope,
  ListRecordings,
  RecordingEnvelope,
  RecordingListEnvelope,
} from './recordings.dto.js';
import { RecordingDeletion } from './recording-files.js';
import { RecordingsService } from './recordings.service.js';

@ApiTags('meetings')
@Controller()
export class RecordingsController {
  constructor(
    private readonly recordings: RecordingsService,
    private readonly deletion: RecordingDeletion,
  ) {}

  @Endpoint('GET meetings/recordings', {
    id: 'listRecordings',
    summary: 'List recordings',
    description:
      'Recordings of calls that you may join, made while you were a member of their room. With the permission `recordings.read_any`, all recordings of the workspace. The newest first. Links to files are valid for an hour. A recording is deleted after 90 days.',
    response: [RecordingListEnvelope, 'A page of recordings.'],
  })
  list(@Ctx() ctx: RequestContext, @Query() query: ListRecordings): Promise<RecordingListEnvelope> {
    const { from, to, call_id: callId } = query;
    return this.recordings.list(ctx, query, { from, to, callId });
  }

  @Endpoint('GET chat/rooms/:id/recordings', {
    id: 'listChatRoomRecordings',
    summary: 'List the recordings of a room',
    description: 'Recordings that were made while you were a member of the room, the newest first.',
    response: [RecordingListEnvelope, 'A page of recordings.'],
    errors: [CallErrors.roomNotFound],
  })
  ofRoom(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Query() query: PageQuery,
  ): Promise<RecordingListEnvelope> {
    return this.recordings.ofRoom(ctx, id, query);
  }

  @Endpoint('GET call/recordings/:token', {
    id: 'downloadRecording',
    summary: 'Download a recording',
    description:
      'The signed link of a recording; it needs no bearer token. The header `Range` selects a part of the file.',
    errors: [CallErrors.recordingNotFound, Errors.badRequest, ...DOWNLOAD_ERRORS],
  })
  @ApiParam({
    name: 'token',
    description: 'From the `url` of a recording.',
    schema: { type: 'string', example: 'AYkKXayWd0u8zrMCCZqAV2Zvb2Jhcg' },
  })
  @ApiDownload('The file.')
  @Public()
  content(@Param('token') token: string): Promise<ContentReply> {
    return this.recordings.content(token);
  }

  @Endpoint('POST call/:call_id/recordings', {
    id: 'startRecording',
    summary: 'Start a recording',
    description: 'Records a live call that you may join. A call has one recording at a time.',
    status: 201,
    response: [RecordingEnvelope, 'The recording.'],
    errors: [
      CallErrors.callNotFound,
      CallErrors.callNotLive,
      CallErrors.recordingActive,
      CallErrors.serverNotConfigured,
      CallErrors.recordingNotConfigured,
      CallErrors.serverUnavailable,
      CallErrors.serverFaulty,
    ],
  })
  @Requires('calls.record')
  async start(@Ctx() ctx: RequestContext, @Id('call_id') callId: string): Promise<RecordingEnvelope> {
    return { recording: await this.recordings.start(ctx, callId) };
  }

  @Endpoint('DELETE call/:call_id/recordings/:recording_id', {
    id: 'deleteRecording',
    summary: 'Delete a recording and its file',
    description:
      'For the user who started the recording, the host, moderators of the room, and members with the permission `calls.moderate`. Links to the recording become invalid at once.',
    response: [DeletedRecordingEnvelope, 'The deleted recording.'],
    errors: [
      CallErrors.callNotFound,
      CallErrors.recordingNotFound,
      Errors.forbidden,
      CallErrors.recordingNotFinished,
    ],
  })
  async delete(
    @Ctx() ctx: RequestContext,
    @Id('call_id') callId: string,
    @Id('recording_id') id: string,
  ): Promise<DeletedRecordingEnvelope> {
    return { recording: await this.deletion.delete(ctx, callId, id), deleted: true };
  }

  @Endpoint('POST call/:call_id/recordings/:recording_id/stop', {
    id: 'stopRecording',
    summary: 'Stop a recording',
    description: 'Does nothing to a recording that has ended.',
    status: 200,
    response: [RecordingEnvelope, 'The recording.'],
    errors: [
      CallErrors.callNotFound,
      CallErrors.recordingNotFound,
      CallErrors.serverNotConfigured,
      CallErrors.serverUnavailable,
      CallErrors.serverFaulty,
    ],
  })
  @Requires('calls.record')
  async stop(
    @Ctx() ctx: RequestContext,
    @Id('call_id') callId: string,
    @Id('recording_id') id: string,
  ): Promise<RecordingEnvelope> {
    return { recording: await this.recordings.stop(ctx, callId, id) };
  }
}
