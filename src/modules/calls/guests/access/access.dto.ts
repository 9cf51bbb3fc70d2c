import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsOptional, IsString, Matches } from 'class-validator';
import { DATE_TIME, UUID } from '../../../../platform/field-docs/field-docs.js';
import { OneOf, Optional, Text } from '../../../../platform/http/input.decorators.js';
import { GUEST_STATES, type GuestState, INVITE_KINDS, INVITE_TARGETS } from '../guests.schema.js';
import { Email, GuestName } from '../model/guest-input.js';

export class RequestCode {
  @ApiProperty({ format: 'email', maxLength: 254, example: 'gina@partner.example' }) @Email() email!: string;
  /** Language of the mail (BCP 47). Default: English. */
  @IsOptional() @Text(35, { example: 'de' }) locale?: string;
}

/** Six digits, which a person may type or copy in groups. */
const Code = (): PropertyDecorator =>
  applyDecorators(
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' ? value.replace(/[\s-]/g, '') : value,
    ),
    Matches(/^\d{6}$/, { message: 'code must be six digits' }),
  );

export class ClaimInvite {
  @GuestName() name!: string;

  /** Required if the invite requires a code. */
  @ApiPropertyOptional({ format: 'email', maxLength: 254, example: 'gina@partner.example' })
  @Optional()
  @Email()
  email?: string;

  /** The code of the mail. */
  @ApiPropertyOptional({ pattern: '^\\d{6}$', example: '480215' })
  @Optional()
  @Code()
  @IsString()
  code?: string;
}

export class VerifyViewer {
  @ApiProperty({ format: 'email', maxLength: 254, example: 'gina@partner.example' }) @Email() email!: string;
  @ApiProperty({ pattern: '^\\d{6}$', example: '480215' }) @Code() @IsString() code!: string;
}

const TOKEN_TEXT = { minLength: 1, maxLength: 200, example: `${'A'.repeat(63)}w` };

export class RenewSession {
  /** The token of `claim`, or of the previous renewal. */
  @Text(200, { ...TOKEN_TEXT, minLength: 1 }) guest_token!: string;
}

export class JoinLivestream {
  @ApiPropertyOptional({ minLength: 1, maxLength: 80, example: 'Gina Guest' })
  @Optional()
  @GuestName()
  name?: string;

  /** The token of `livestream_verify`, or of an earlier join. */
  @Optional() @Text(200, { ...TOKEN_TEXT, minLength: 1 }) viewer_token?: string;
}

export class StartCallSession {
  /** Join without a camera. */
  @IsOptional() @OneOf([true, false], { default: false, example: false }) audio_only?: boolean;
}

const TOKEN = `${'A'.repeat(63)}w`;
const INVITE_STATES = ['active', 'expired', 'revoked', 'exhausted'] as const;
type InviteState = (typeof INVITE_STATES)[number];

export class GuestTenantResponse {
  /** @example "Demo Workspace" */ name!: string;
  /** Changes with the logo. Null without a logo. */
  @ApiProperty({
    type: String,
    nullable: true,
    example: `/apis/v1/call/external/${TOKEN}/logo?v=0f343b0931126a20`,
  })
  logo_url!: string | null;
}

export class GuestRequirementsResponse {
  /** Guests need a code, which they receive by mail. */
  @ApiProperty({ example: true }) otp!: boolean;
  /** Guests need the approval of a host. */
  @ApiProperty({ example: true }) approval!: boolean;
  @ApiProperty({ example: true }) name!: boolean;
}

export class GuestInviteStatusResponse {
  @ApiProperty({ enum: INVITE_KINDS, example: 'personal' }) kind!: 'personal' | 'link';
  @ApiProperty({ enum: INVITE_TARGETS, example: 'call' }) target_kind!: 'call' | 'chat_room';
  /** Viewers use the livestream routes. */
  @ApiProperty({ enum: ['guest', 'viewer'], example: 'guest' }) role!: 'guest' | 'viewer';
  /** @example "Quarterly review" */ title!: string;
  tenant!: GuestTenantResponse;
  @ApiProperty(DATE_TIME) starts_at!: string | null;
  requires!: GuestRequirementsResponse;
  @ApiProperty({ example: true }) chat_allowed!: boolean;
  @ApiProperty({ enum: INVITE_STATES, example: 'active' }) state!: InviteState;
}

export class GuestCallStatusResponse {
  @ApiProperty({ example: true }) live!: boolean;
  @ApiProperty({ example: false }) locked!: boolean;
}

export class GuestResponse {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ enum: GUEST_STATES, example: 'waiting' }) state!: GuestState;
  /** @example "Gina Guest" */ name!: string;
}

export class GuestStatusEnvelope {
  invite!: GuestInviteStatusResponse;
  call!: GuestCallStatusResponse;
  /** Only with a valid session. */
  @ApiPropertyOptional({ type: GuestResponse }) guest?: GuestResponse;
  /** Seconds to wait before the next request. */
  @ApiProperty({ type: 'integer', minimum: 1, example: 3 }) poll_after!: number;
}

export class CodeSentEnvelope {
  @ApiProperty({ enum: [true], example: true }) sent!: true;
  /** Seconds. */
  @ApiProperty({ type: 'integer', minimum: 1, example: 600 }) expires_in!: number;
  /** Seconds. */
  @ApiProperty({ type: 'integer', minimum: 1, example: 60 }) resend_after!: number;
}

export class GuestSessionResponse {
  /** For the header `X-Guest-Session`. */
  @ApiProperty({ example: TOKEN }) token!: string;
  /** Seconds. */
  @ApiProperty({ type: 'integer', minimum: 1, example: 900 }) expires_in!: number;
}

export class ClaimedInviteEnvelope {
  guest!: GuestResponse;
  /** Renews the session, once: each renewal returns another one. */
  @ApiProperty({ example: TOKEN }) guest_token!: string;
  session!: GuestSessionResponse;
}

export class RenewedSessionEnvelope {
  @ApiProperty({ example: TOKEN }) guest_token!: string;
  session!: GuestSessionResponse;
}

export class LeftSessionEnvelope {
  @ApiProperty({ enum: [true], example: true }) left!: true;
}

export class CallSessionEnvelope {
  /** For the media server, to be used within `expires_in` seconds. */
  @ApiProperty({ example: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJnOjAxODkwYTVkIn0.c2ln' }) token!: string;
  /** @example "wss://media.example" */ url!: string;
  /** @example "g:01890a5d-ac96-774b-bcce-b302099a8057" */ identity!: string;
  @ApiProperty({ type: 'integer', minimum: 1, example: 120 }) expires_in!: number;
}

export class WaitingSessionEnvelope {
  @ApiProperty({ enum: ['waiting'], example: 'waiting' }) state!: 'waiting';
  @ApiProperty({ type: 'integer', minimum: 1, example: 3 }) poll_after!: number;
}

export class ViewerTokenEnvelope {
  @ApiProperty({ example: TOKEN }) viewer_token!: string;
  /** Seconds. */
  @ApiProperty({ type: 'integer', minimum: 1, example: 3600 }) expires_in!: number;
}

export class LivestreamViewerResponse {
  @ApiProperty(UUID) id!: string;
}

export class JoinedLivestreamEnvelope extends CallSessionEnvelope {
  viewer!: LivestreamViewerResponse;
  /** Joins again without taking a second place. Missing if the request had a token. */
  @ApiPropertyOptional({ example: TOKEN }) viewer_token?: string;
}
