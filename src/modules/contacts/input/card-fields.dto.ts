import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsInt,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateBy,
} from 'class-validator';
import { MAX_UID } from '../../../lib/contact-card/index.js';
import {
  CARD_DATE_TYPES,
  type CardDateType,
  checkDate,
  isPropertyName,
  NAME,
} from '../../../lib/vcard/index.js';
import { Flag, MaxBytes, Nullable, OneOf, Optional, Text } from '../../../platform/http/input.decorators.js';

/** Limits of the fields of a contact, for requests and imports: characters, unless another unit is named. */
export const CARD_LIMITS = {
  /** Texts without a limit of their own. */
  text: 1_000,
  /** Entries of lists of objects. */
  entries: 100,
  /** Entries of lists of texts. */
  texts: 200,
  /** The uids of the members of a group. */
  members: 2_000,
  uid: MAX_UID,
  /** Types of an entry. */
  types: 20,
  type: 64,
  /** Units of an organization. */
  units: 20,
  /** Bytes of notes and of the value of a property. */
  notes: 64 * 1024,
  /** An e-mail address or a URL. */
  address: 2_000,
  phone: 200,
  extension: 50,
  formatted: 4_000,
  profileUri: 2_000,
  /** The card of an agent is a URI. */
  relatedUri: 16_384,
  zone: 100,
  language: 100,
  /** Parameters of a property, and values of a parameter. */
  params: 50,
  /** Names of properties, of parameters and of groups. */
  name: 64,
} as const;

/** An optional text of one contact field; null clears it. */
export const CardText = (example: string | null = null, max: number = CARD_LIMITS.text): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ type: String, nullable: true, maxLength: max, example }),
    Nullable(),
    MaxLength(max),
    IsString(),
  );

/** An optional list of texts; null clears it. */
export const CardTexts = (
  example: string[] = [],
  max: number = CARD_LIMITS.texts,
  length: number = CARD_LIMITS.text,
): PropertyDecorator => {
  const items = { type: 'string', maxLength: length } as const;
  return applyDecorators(
    ApiPropertyOptional({ type: 'array', nullable: true, maxItems: max, items, example }),
    Nullable(),
    MaxLength(length, { each: true }),
    IsString({ each: true }),
    ArrayMaxSize(max),
    IsArray(),
  );
};

export class NameInput {
  @CardText('Dr.') prefix?: string | null;
  @CardText('Maria') given?: string | null;
  @CardText() middle?: string | null;
  @CardText('Silva') family?: string | null;
  @CardText() suffix?: string | null;
  @CardText() phonetic_given?: string | null;
  @CardText() phonetic_family?: string | null;
}

export class OrganizationInput {
  @CardText('Acme') name?: string | null;
  @CardTexts(['Research'], CARD_LIMITS.units) units?: string[] | null;
}

class EntryInput {
  /** In the user's own words. */
  @CardText() label?: string | null;
  /** e.g. `home`, `work`, `cell`, `fax`. */
  @CardTexts(['work'], CARD_LIMITS.types, CARD_LIMITS.type) types?: string[] | null;
  /** At most one entry of a list is primary: the first of them. */
  @Optional() @Flag({ example: false }) primary?: boolean;
}

export class ValueInput extends EntryInput {
  @Text(CARD_LIMITS.address, { example: 'maria@example.com' }) value!: string;
}

export class PhoneInput extends EntryInput {
  /** As it is shown; the contact also has its international form where the country is known. */
  @Text(CARD_LIMITS.phone, { example: '+420 601 123 456' }) value!: string;
  @CardText(null, CARD_LIMITS.extension) extension?: string | null;
  /** The international form of an earlier response. It is used only if `value` has none. */
  @CardText('+420601123456', CARD_LIMITS.extension) e164?: string | null;
}

export class AddressInput extends EntryInput {
  @CardText('Street 1') street?: string | null;
  @CardText() extended?: string | null;
  @CardText() po_box?: string | null;
  @CardText('Prague') locality?: string | null;
  @CardText() region?: string | null;
  @CardText('110 00') postal_code?: string | null;
  @CardText('Czechia') country?: string | null;
  @ApiPropertyOptional({ type: String, nullable: true, pattern: '^[A-Za-z]{2}$', example: 'CZ' })
  @Nullable()
  @Matches(/^[a-z]{2}$/i, { message: '$property must be a country of two letters (ISO 3166-1)' })
  country_code?: string | null;
  /** The whole address as on an envelope. */
  @CardText(null, CARD_LIMITS.formatted) formatted?: string | null;
}

/** Needs `user` or `uri`. */
export class ProfileInput extends EntryInput {
  @CardText('Mastodon') service?: string | null;
  @CardText('@maria@example.social') user?: string | null;
  @CardText(null, CARD_LIMITS.profileUri) uri?: string | null;
}

const part = (min: number, max: number, example: number): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ type: 'integer', nullable: true, minimum: min, maximum: max, example }),
    Nullable(),
    Max(max),
    Min(min),
    IsInt(),
  );

/** The day of a date that exists (RFC 6350, 4.3.1). */
const IsInCalendar = (): PropertyDecorator =>
  ValidateBy({
    name: 'isInCalendar',
    validator: {
      validate: (day, args) => {
        const { year = null, month = null } = (args?.object ?? {}) as Partial<DateInput>;
        return typeof day !== 'number' || checkDate({ year, month, day }) !== undefined;
      },
      defaultMessage: () => '$property must be a day of the month, which a date with a year needs',
    },
  });

/** A date whose year, month or day may be unknown, but not all of them. */
export class DateInput {
  @OneOf(CARD_DATE_TYPES, { example: 'birthday' }) type!: CardDateType;
  @part(1, 9999, 1985) year?: number | null;
  @part(1, 12, 4) month?: number | null;
  @IsInCalendar() @part(1, 31, 30) day?: number | null;
  @CardText() label?: string | null;
}

/** Needs `name` or `uri`. */
export class RelatedInput {
  /** e.g. `spouse`, `child`, `manager`. */
  @CardText('manager', CARD_LIMITS.type) type?: string | null;
  @CardText('Ivo Novak') name?: string | null;
  @CardText(null, CARD_LIMITS.relatedUri) uri?: string | null;
}

/** Parameters of a vCard property: lists of texts by name. */
const IsParameters = () =>
  ValidateBy({
    name: 'isParameters',
    validator: {
      validate: (value) =>
        typeof value === 'object' &&
        value !== null &&
        !Array.isArray(value) &&
        Object.keys(value).length <= CARD_LIMITS.params &&
        Object.entries(value).every(
          ([key, list]) =>
            key.length <= CARD_LIMITS.name &&
            isPropertyName(key) &&
            Array.isArray(list) &&
            list.length <= CARD_LIMITS.params &&
            list.every((each) => typeof each === 'string' && each.length <= CARD_LIMITS.text),
        ),
      defaultMessage: () => 'params must be lists of texts by name',
    },
  });

/** A vCard property that no other field holds, or the group and the parameters of the value of a field. It is kept as it is. */
export class PropertyInput {
  @CardText(null, CARD_LIMITS.name) group?: string | null;
  @ApiProperty({ pattern: `^${NAME}$`, maxLength: CARD_LIMITS.name, example: 'X-PHONETIC-ORG' })
  @MaxLength(CARD_LIMITS.name)
  @Matches(new RegExp(`^${NAME}$`), { message: 'name must be the name of a vCard property' })
  name!: string;
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'array', items: { type: 'string' } },
    example: {},
  })
  @Optional()
  @IsParameters()
  params?: Record<string, string[]>;
  @ApiProperty({ maxLength: CARD_LIMITS.notes, example: 'Ak-mi' })
  @MaxBytes(CARD_LIMITS.notes)
  @IsString()
  value!: string;
}
