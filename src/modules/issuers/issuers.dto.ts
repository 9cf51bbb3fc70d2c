import { ApiProperty, ApiPropertyOptional, IntersectionType, OmitType, PartialType } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsFQDN,
  IsString,
  Length,
  Matches,
  MaxLength,
  ValidateNested,
} from 'class-validator';
import { BaseRevision } from '../../platform/concurrency/base-revision.dto.js';
import { EXAMPLE_ID, UUID } from '../../platform/field-docs/field-docs.js';
import { defineError } from '../../platform/http/errors.js';
import {
  Distinct,
  Flag,
  HttpUrl,
  Name,
  Nullable,
  OneOf,
  Optional,
  Text,
  Uuid,
} from '../../platform/http/input.decorators.js';
import { QUOTAS } from '../../platform/quotas/quotas.js';
import { ClientId } from '../../platform/resources/folder.dto.js';
import { RevisionedFields } from '../../platform/resources/item.response.js';
import { resource } from '../../platform/resources/resource.js';
import { AsDomainName } from '../tenants/index.js';

/** Characters of OAuth (RFC 6749, appendix A) and of claim names: visible ASCII. */
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

export class GroupMappingInput {
  /** A value of the groups claim. */
  @Name(200, { example: 'engineering' }) value!: string;
  /** A group of the workspace. */
  @Uuid({ example: EXAMPLE_ID }) group_id!: string;
}

export class CreateIssuer extends ClientId {
  /** Shown on the sign-in page. */
  @Name(100, { example: 'Acme' }) name!: string;
  /** Issuer identifier (OpenID Connect Discovery 1.0): https, or http on a loopback address in development. It cannot change. */
  @ApiProperty({ maxLength: 2048, example: 'https://login.acme.example' }) @HttpUrl() issuer!: string;

  /** The client id of this service at the issuer. */
  @Matches(VISIBLE_ASCII, { message: 'client_id must consist of visible ASCII characters' })
  @Text(500, { minLength: 1, example: 'workspace' })
  client_id!: string;

  /** Secret of the client; null for a public client. It is stored encrypted and never returned. */
  @Nullable()
  @Matches(/^[\x20-\x7e]+$/, { message: 'client_secret must consist of ASCII characters' })
  @Text(1000, { minLength: 1, example: null })
  client_secret?: string | null;

  /** Verified domains of the workspace. The issuer signs in addresses of these domains only. */
  @ApiProperty({ type: [String], minItems: 1, maxItems: 50, example: ['acme.example'] })
  @AsDomainName()
  @Distinct()
  @MaxLength(253, { each: true })
  @IsFQDN({}, { each: true, message: 'each value in domains must be a domain name' })
  @ArrayMinSize(1)
  @ArrayMaxSize(50)
  @IsArray()
  domains!: string[];

  /** Requested scopes; `openid` is always requested. Default: openid, email, profile. */
  @ApiPropertyOptional({ type: [String], maxItems: 20, example: ['openid', 'email', 'profile'] })
  @Optional()
  @Distinct()
  @Matches(VISIBLE_ASCII, { each: true, message: 'each value in scopes must be a scope' })
  @Length(1, 200, { each: true })
  @IsString({ each: true })
  @ArrayMaxSize(20)
  @IsArray()
  scopes?: string[];

  /** Claim of the ID token with the e-mail address. Default: email. */
  @Optional()
  @Matches(VISIBLE_ASCII, { message: 'email_claim must be the name of a claim' })
  @Text(100, { minLength: 1, example: 'email' })
  email_claim?: string;

  /** Claim of the ID token with the display name of new members. Default: name. */
  @Optional()
  @Matches(VISIBLE_ASCII, { message: 'name_claim must be the name of a claim' })
  @Text(100, { minLength: 1, example: 'name' })
  name_claim?: string;

  /** Claim of the ID token with a list of groups; null: none. */
  @Nullable()
  @Matches(VISIBLE_ASCII, { message: 'groups_claim must be the name of a claim' })
  @Text(100, { minLength: 1, example: 'groups' })
  groups_claim?: string | null;

  /** Groups that new members join by values of `groups_claim`. You must hold the permissions of these groups. */
  @ApiPropertyOptional({ type: [GroupMappingInput], maxItems: 100, example: [] })
  @Optional()
  @ValidateNested({ each: true })
  @Type(() => GroupMappingInput)
  @ArrayMaxSize(100)
  @IsArray()
  group_mappings?: GroupMappingInput[];

  /**
   * Whether addresses of the bound domains are accepted without `email_verified`, because only your organisation assigns them.
   */
  @Optional() @Flag({ example: false }) trusts_email?: boolean;
  /** Whether users without a membership become members when they sign in. Default: false. */
  @Optional() @Flag({ example: true }) creates_members?: boolean;
  /** Role of new members, never owner. You must hold the permissions of the role. Default: member. */
  @Optional() @OneOf(['member', 'admin'], { example: 'member' }) default_role?: 'member' | 'admin';
  /** Whether the first sign-in by the issuer links an existing account with the same address. Default: false. */
  @Optional() @Flag({ example: true }) links_accounts?: boolean;
  /**
   * Whether members with an address of the bound domains sign in to the workspace by this issuer only. Owners may still use
   * their password. Default: false.
   */
  @Optional() @Flag({ example: false }) required?: boolean;
  /** Default: true. */
  @Optional() @Flag({ example: true }) enabled?: boolean;
}

export class UpdateIssuer extends IntersectionType(
  PartialType(OmitType(CreateIssuer, ['id', 'issuer']), { skipNullProperties: false }),
  BaseRevision,
) {}

export class GroupMappingResponse {
  /** @example "engineering" */ value!: string;
  @ApiProperty(UUID) group_id!: string;
}

export class IssuerResponse extends RevisionedFields {
  /** @example "Acme" */ name!: string;
  /** @example "https://login.acme.example" */ issuer!: string;
  /** @example "workspace" */ client_id!: string;
  /** Whether a client secret is stored. The secret is never returned. @example true */ has_client_secret!: boolean;
  /** The redirect URI to register at the issuer. @example "https://workspace.example/apis/v1/oidc/callback/01890a5d-ac96-774b-bcce-b302099a8057" */
  redirect_uri!: string;
  @ApiProperty({ type: [String], example: ['openid', 'email', 'profile'] }) scopes!: string[];
  @ApiProperty({ type: [String], example: ['acme.example'] }) domains!: string[];
  /** @example "email" */ email_claim!: string;
  /** @example "name" */ name_claim!: string;
  @ApiProperty({ example: 'groups' }) groups_claim!: string | null;
  @ApiProperty({ type: [GroupMappingResponse], example: [] }) group_mappings!: GroupMappingResponse[];
  /** @example false */ trusts_email!: boolean;
  /** @example true */ creates_members!: boolean;
  @ApiProperty({ enum: ['member', 'admin'], example: 'member' }) default_role!: string;
  /** @example true */ links_accounts!: boolean;
  /** @example false */ required!: boolean;
  /** @example true */ enabled!: boolean;
  @ApiProperty(UUID) created_by!: string | null;
}

export class IssuerCheckResponse {
  /** @example true */ ok!: boolean;
  /** Code of the first problem; null without one. */
  @ApiProperty({
    type: String,
    nullable: true,
    enum: ['invalid_address', 'unreachable', 'too_large', 'invalid_metadata', 'unsupported', 'no_keys', null],
    example: null,
  })
  problem!: string | null;
  /** Description of the problem; null without one. */
  @ApiProperty({ example: null }) message!: string | null;
  @ApiProperty({ example: 'https://login.acme.example/authorize' }) authorization_endpoint!: string | null;
  @ApiProperty({ example: 'https://login.acme.example/token' }) token_endpoint!: string | null;
  /** Number of signing keys that the issuer publishes. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 2 }) keys!: number;
}

export class IssuerCheckEnvelope {
  check!: IssuerCheckResponse;
}

export const ISSUERS = resource({
  tag: 'tenant',
  name: 'issuer',
  path: 'tenant/issuers',
  item: IssuerResponse,
  notFound: 'The workspace has no such issuer.',
  revision: 'required',
});

export const IssuerErrors = {
  alreadyExists: defineError(409, 'already_exists', 'An issuer with this id exists.'),
  domainNotVerified: defineError(
    409,
    'domain_not_verified',
    'The workspace has not verified one of the domains.',
  ),
  domainBound: defineError(409, 'domain_bound', 'Another issuer of the workspace has one of the domains.'),
  tooManyIssuers: defineError(
    422,
    'too_many_issuers',
    `A workspace may have at most ${QUOTAS.workspace.issuers} issuers.`,
  ),
  noChanges: defineError(422, 'no_changes', 'The request changes nothing.'),
} as const;
