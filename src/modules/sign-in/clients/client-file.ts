import { readFileSync } from 'node:fs';
import { plainToInstance } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsOptional,
  IsString,
  Length,
  Matches,
  validateSync,
} from 'class-validator';
import { ConfigError } from '../../../config/config.js';
import { Visible } from '../../../platform/http/input.decorators.js';
import { redirectUriProblem } from './client-uris.js';
import type { ClientKind, ClientRow } from './oidc-clients.repository.js';

const KINDS: ClientKind[] = ['public', 'confidential', 'device'];

class ClientEntry {
  @Matches(/^[\w.-]{1,100}$/) id!: string;
  @IsIn(KINDS, {
    message: `kind must be one of ${KINDS.join(', ')}; create services with workspace client add`,
  })
  kind!: ClientKind;
  @Visible() @Length(1, 100) @IsString() name!: string;
  @IsOptional() @IsBoolean() first_party?: boolean;
  @IsOptional() @IsArray() @ArrayMaxSize(50) @IsString({ each: true }) redirect_uris?: string[];
  @IsOptional() @IsArray() @ArrayMaxSize(50) @IsString({ each: true }) post_logout_redirect_uris?: string[];
  /** SHA-256 of the secret in hexadecimal, so that the file contains no secret. */
  @IsOptional() @Matches(/^[0-9a-f]{64}$/) secret_sha256?: string;
}

/**
 * Reads the file that OIDC_CLIENTS names.
 * @throws ConfigError that names each invalid entry
 */
export function readClientFile(path: string): ClientRow[] {
  let entries: unknown;
  try {
    entries = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new ConfigError([`OIDC_CLIENTS: ${(error as Error).message}`]);
  }
  if (!Array.isArray(entries)) throw new ConfigError(['OIDC_CLIENTS must name a file with a JSON array']);
  const clients = entries.map((entry) => plainToInstance(ClientEntry, Object(entry)));
  const lines = clients.flatMap((client, n) =>
    problems(client).map((text) => `OIDC_CLIENTS: [${n}] ${text}`),
  );
  if (new Set(clients.map(({ id }) => id)).size < clients.length)
    lines.push('OIDC_CLIENTS: two clients have the same id');
  if (lines.length > 0) throw new ConfigError(lines);
  return clients.map(rowOf);
}

function problems(client: ClientEntry): string[] {
  const errors = validateSync(client).flatMap(({ constraints }) => Object.values(constraints ?? {}));
  if (errors.length > 0) return errors;
  const uris = [...(client.redirect_uris ?? []), ...(client.post_logout_redirect_uris ?? [])];
  return [
    ...uris.flatMap((uri) => {
      const problem = redirectUriProblem(uri);
      return problem ? [`${uri} ${problem}`] : [];
    }),
    ...(client.kind === 'confidential' && !client.secret_sha256 ? ['needs secret_sha256'] : []),
    ...(client.kind !== 'confidential' && client.secret_sha256
      ? ['must not have secret_sha256 unless confidential']
      : []),
    ...(client.kind !== 'device' && !client.redirect_uris?.length ? ['needs redirect_uris'] : []),
  ];
}

function rowOf(client: ClientEntry): ClientRow {
  return {
    id: client.id,
    kind: client.kind,
    name: client.name,
    firstParty: client.first_party ?? false,
    secretHash: client.secret_sha256 ? Buffer.from(client.secret_sha256, 'hex') : null,
    redirectUris: client.redirect_uris ?? [],
    logoutUris: client.post_logout_redirect_uris ?? [],
    accountId: null,
    tenantId: null,
    ownerTenantId: null,
    scopes: null,
  };
}
