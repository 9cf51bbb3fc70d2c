import type * as PhoneNumbers from 'libphonenumber-js';
import { lazy } from '../lazy/index.js';

/** The library of telephone numbers, which loads on first use: most processes read no number. */
export const phoneNumbers = lazy((require) => require('libphonenumber-js') as typeof PhoneNumbers);

/** Whether a country (ISO 3166) has telephone numbers of its own. */
export const isPhoneCountry = (country: string): boolean => phoneNumbers().isSupportedCountry(country);
