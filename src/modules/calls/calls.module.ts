import { Module } from '@nestjs/common';
import { CallServer } from './call-server.js';
import { LiveKitCallServer } from './livekit/livekit-call-server.js';

@Module({
  providers: [{ provide: CallServer, useClass: LiveKitCallServer }],
})
export class CallsModule {}
