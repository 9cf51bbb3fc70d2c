import { IntegerFrom, Name, Nullable } from '../../../platform/http/input.decorators.js';

export class CreateScimToken {
  @Name(100, { example: 'Microsoft Entra ID' }) name!: string;
  /** Days until the token ends; null or missing: it does not expire. */
  @Nullable() @IntegerFrom(1, 3650, { example: 365 }) expires_in_days?: number | null;
}
