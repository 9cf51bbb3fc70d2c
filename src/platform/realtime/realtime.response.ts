import { ApiProperty } from '@nestjs/swagger';

export class SocketTokenEnvelope {
  /** Opens one socket: `auth: { token }` of the Socket.IO client. */
  @ApiProperty({ example: 'AYkKXayWd0u8zrMCCZqAVw' + 'x'.repeat(42) }) token!: string;
  /** Seconds in which the token must be used. */
  @ApiProperty({ type: 'integer', example: 60 }) expires_in!: number;
  /** The path of the sockets. */
  @ApiProperty({ example: '/apis/v1/socket' }) url!: string;
  @ApiProperty({ example: 'socket.io/4' }) protocol!: string;
}
