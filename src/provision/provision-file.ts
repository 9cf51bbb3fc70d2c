import { plainToInstance, Type } from 'class-transformer';
import {
  IsArray,
  IsEmail,
  IsFQDN,
  IsIn,
  IsOptional,
  IsString,
  Length,
  Matches,
  validateSync,
  ValidateNested,
  type ValidationError,
} from 'class-validator';
import { AsDomainName } from '../modules/tenants/index.js';
import { Name } from '../platform/http/input.decorators.js';

class ProvisionAccount {
  @IsEmail({ allow_utf8_local_part: true, require_tld: false }) email!: string;
  @Name(200) name!: string;
  @IsOptional() @IsString() @Length(8, 1000) password?: string;
}

class ProvisionUser extends ProvisionAccount {
  @IsOptional() @IsIn(['owner', 'admin', 'member']) role?: 'owner' | 'admin' | 'member';
}

/** The name of a workspace in addresses and commands. */
export const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export class ProvisionTenant {
  @Matches(SLUG, {
    message: 'slug must be lower-case letters, digits and hyphens',
  })
  slug!: string;
  @IsOptional() @Name(200) name?: string;
  @IsOptional() @IsArray() @IsFQDN({ require_tld: false }, { each: true }) @AsDomainName() domains?: string[];
  @IsOptional() @IsArray() @ValidateNested({ each: true }) @Type(() => ProvisionUser) users?: ProvisionUser[];
}

/** Maximum number of reported errors per file. */
const MAX_PROBLEMS = 20;

/** The file of `workspace provision --file`. */
export class ProvisionFile {
  @IsOptional()
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => ProvisionTenant)
  tenants?: ProvisionTenant[];
  @IsOptional()
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => ProvisionAccount)
  accounts?: ProvisionAccount[];

  /** @throws Error that names each invalid entry by its path, e.g. `tenants.0.users.3.email` */
  static parse(text: string): ProvisionFile {
    const plain = parseJson(text);
    if (typeof plain !== 'object' || plain === null || Array.isArray(plain))
      throw new Error('the file must contain a JSON object');
    const file = plainToInstance(ProvisionFile, plain);
    const problems = validateSync(file, { whitelist: true }).flatMap((error) => messages(error));
    if (problems.length > MAX_PROBLEMS)
      problems.splice(MAX_PROBLEMS, Infinity, `and ${problems.length - MAX_PROBLEMS} more`);
    if (problems.length > 0) throw new Error(problems.join('\n'));
    return file;
  }
}

/** @throws Error with the reason */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`the file must contain JSON: ${(error as Error).message}`, { cause: error });
  }
}

function messages(error: ValidationError, parent = ''): string[] {
  const path = parent ? `${parent}.${error.property}` : error.property;
  return [
    ...Object.values(error.constraints ?? {}).map((message) => `${path}: ${message}`),
    ...(error.children ?? []).flatMap((child) => messages(child, path)),
  ];
}
