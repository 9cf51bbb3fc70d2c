import { ApiProperty } from '@nestjs/swagger';
import { WholeListEnvelope } from '../../../platform/paging/page.dto.js';
import { DATE_TIME, UUID } from '../../../platform/field-docs/field-docs.js';

export class ConnectedAppWorkspace {
  @ApiProperty(UUID) id!: string;
  /** @example "Demo Workspace" */ name!: string;
}

export class ConnectedApp {
  /** The `client_id` of OAuth. @example "time-sheets" */ id!: string;
  /** @example "Time sheets" */ name!: string;
  /** Scopes with your consent. @example ["openid", "email"] */ scopes!: string[];
  /** Workspaces that the application can access as you. */ workspaces!: ConnectedAppWorkspace[];
  @ApiProperty({ type: 'integer', example: 1 }) sessions!: number;
  @ApiProperty(DATE_TIME) connected_at!: string;
  @ApiProperty(DATE_TIME) last_seen!: string | null;
}

export class ConnectedAppListEnvelope extends WholeListEnvelope {
  /** By name; at most 100. */
  applications!: ConnectedApp[];
}

export class ConnectedAppRemoved {
  @ApiProperty({ type: 'integer', example: 1 }) sessions_ended!: number;
}
