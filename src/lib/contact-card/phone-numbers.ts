import { createRequire } from 'node:module';
import type * as PhoneNumbers from 'libphonenumber-js';

const require = createRequire(import.meta.url);
let library: typeof PhoneNumbers | undefined;

/** The library of telephone numbers, which loads on first use: most processes read no number. */
export const phoneNumbers = (): typeof PhoneNumbers =>
  (library ??= require('libphonenumber-js') as typeof PhoneNumbers);

/** Whether a country (ISO 3166) has telephone numbers of its own. */
export const isPhoneCountry = (country: string): boolean => phoneNumbers().isSupportedCountry(country);
