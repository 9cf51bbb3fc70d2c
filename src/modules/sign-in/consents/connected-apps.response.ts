import { ApiProperty } from '@nestjs/swagger';
import { WholeListEnvelope } from '../../../platform/paging/page.response.js';

const TIME = '2026-11-21T09:30:00.000Z';

export class ConnectedAppWorkspace {
  @ApiProperty({ format: 'uuid', example: '01890a5d-ac96-774b-bcce-b302099a8057' }) id!: string;
  /** @example "Demo Workspace" */ name!: string;
}

export class ConnectedApp {
  /** The `client_id` of OAuth. @example "time-sheets" */ id!: string;
  /** @example "Time sheets" */ name!: string;
  /** Scopes with your consent. @example ["openid", "email"] */ scopes!: string[];
  /** Workspaces that the application can access as you. */ workspaces!: ConnectedAppWorkspace[];
  @ApiProperty({ type: 'integer', example: 1 }) sessions!: number;
  @ApiProperty({ format: 'date-time', example: TIME }) connected_at!: string;
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: TIME })
  last_seen!: string | null;
}

export class ConnectedAppListEnvelope extends WholeListEnvelope {
  /** By name; at most 100. */
  applications!: ConnectedApp[];
}

export class ConnectedAppRemoved {
  @ApiProperty({ type: 'integer', example: 1 }) sessions_ended!: number;
}
