import { canonicalZone, IANA_NAMES, Zone } from '../recurrence/index.js';

/**
 * Windows names of time zones and the IANA zone of each (Unicode CLDR, windowsZones.xml, territory 001; Unicode License v3).
 */
export const WINDOWS_ZONES: Readonly<Record<string, string>> = {
  'AUS Central Standard Time': 'Australia/Darwin',
  'AUS Eastern Standard Time': 'Australia/Sydney',
  'Afghanistan Standard Time': 'Asia/Kabul',
  'Alaskan Standard Time': 'America/Anchorage',
  'Aleutian Standard Time': 'America/Adak',
  'Altai Standard Time': 'Asia/Barnaul',
  'Arab Standard Time': 'Asia/Riyadh',
  'Arabian Standard Time': 'Asia/Dubai',
  'Arabic Standard Time': 'Asia/Baghdad',
  'Argentina Standard Time': 'America/Buenos_Aires',
  'Astrakhan Standard Time': 'Europe/Astrakhan',
  'Atlantic Standard Time': 'America/Halifax',
  'Aus Central W. Standard Time': 'Australia/Eucla',
  'Azerbaijan Standard Time': 'Asia/Baku',
  'Azores Standard Time': 'Atlantic/Azores',
  'Bahia Standard Time': 'America/Bahia',
  'Bangladesh Standard Time': 'Asia/Dhaka',
  'Belarus Standard Time': 'Europe/Minsk',
  'Bougainville Standard Time': 'Pacific/Bougainville',
  'Canada Central Standard Time': 'America/Regina',
  'Cape Verde Standard Time': 'Atlantic/Cape_Verde',
  'Caucasus Standard Time': 'Asia/Yerevan',
  'Cen. Australia Standard Time': 'Australia/Adelaide',
  'Central America Standard Time': 'America/Guatemala',
  'Central Asia Standard Time': 'Asia/Bishkek',
  'Central Brazilian Standard Time': 'America/Cuiaba',
  'Central Europe Standard Time': 'Europe/Budapest',
  'Central European Standard Time': 'Europe/Warsaw',
  'Central Pacific Standard Time': 'Pacific/Guadalcanal',
  'Central Standard Time': 'America/Chicago',
  'Central Standard Time (Mexico)': 'America/Mexico_City',
  'Chatham Islands Standard Time': 'Pacific/Chatham',
  'China Standard Time': 'Asia/Shanghai',
  'Cuba Standard Time': 'America/Havana',
  'Dateline Standard Time': 'Etc/GMT+12',
  'E. Africa Standard Time': 'Africa/Nairobi',
  'E. Australia Standard Time': 'Australia/Brisbane',
  'E. Europe Standard Time': 'Europe/Chisinau',
  'E. South America Standard Time': 'America/Sao_Paulo',
  'Easter Island Standard Time': 'Pacific/Easter',
  'Eastern Standard Time': 'America/New_York',
  'Eastern Standard Time (Mexico)': 'America/Cancun',
  'Egypt Standard Time': 'Africa/Cairo',
  'Ekaterinburg Standard Time': 'Asia/Yekaterinburg',
  'FLE Standard Time': 'Europe/Kiev',
  'Fiji Standard Time': 'Pacific/Fiji',
  'GMT Standard Time': 'Europe/London',
  'GTB Standard Time': 'Europe/Bucharest',
  'Georgian Standard Time': 'Asia/Tbilisi',
  'Greenland Standard Time': 'America/Godthab',
  'Greenwich Standard Time': 'Atlantic/Reykjavik',
  'Haiti Standard Time': 'America/Port-au-Prince',
  'Hawaiian Standard Time': 'Pacific/Honolulu',
  'India Standard Time': 'Asia/Calcutta',
  'Iran Standard Time': 'Asia/Tehran',
  'Israel Standard Time': 'Asia/Jerusalem',
  'Jordan Standard Time': 'Asia/Amman',
  'Kaliningrad Standard Time': 'Europe/Kaliningrad',
  'Korea Standard Time': 'Asia/Seoul',
  'Libya Standard Time': 'Africa/Tripoli',
  'Line Islands Standard Time': 'Pacific/Kiritimati',
  'Lord Howe Standard Time': 'Australia/Lord_Howe',
  'Magadan Standard Time': 'Asia/Magadan',
  'Magallanes Standard Time': 'America/Punta_Arenas',
  'Marquesas Standard Time': 'Pacific/Marquesas',
  'Mauritius Standard Time': 'Indian/Mauritius',
  'Middle East Standard Time': 'Asia/Beirut',
  'Montevideo Standard Time': 'America/Montevideo',
  'Morocco Standard Time': 'Africa/Casablanca',
  'Mountain Standard Time': 'America/Denver',
  'Mountain Standard Time (Mexico)': 'America/Mazatlan',
  'Myanmar Standard Time': 'Asia/Rangoon',
  'N. Central Asia Standard Time': 'Asia/Novosibirsk',
  'Namibia Standard Time': 'Africa/Windhoek',
  'Nepal Standard Time': 'Asia/Katmandu',
  'New Zealand Standard Time': 'Pacific/Auckland',
  'Newfoundland Standard Time': 'America/St_Johns',
  'Norfolk Standard Time': 'Pacific/Norfolk',
  'North Asia East Standard Time': 'Asia/Irkutsk',
  'North Asia Standard Time': 'Asia/Krasnoyarsk',
  'North Korea Standard Time': 'Asia/Pyongyang',
  'Omsk Standard Time': 'Asia/Omsk',
  'Pacific SA Standard Time': 'America/Santiago',
  'Pacific Standard Time': 'America/Los_Angeles',
  'Pacific Standard Time (Mexico)': 'America/Tijuana',
  'Pakistan Standard Time': 'Asia/Karachi',
  'Paraguay Standard Time': 'America/Asuncion',
  'Qyzylorda Standard Time': 'Asia/Qyzylorda',
  'Romance Standard Time': 'Europe/Paris',
  'Russia Time Zone 10': 'Asia/Srednekolymsk',
  'Russia Time Zone 11': 'Asia/Kamchatka',
  'Russia Time Zone 3': 'Europe/Samara',
  'Russian Standard Time': 'Europe/Moscow',
  'SA Eastern Standard Time': 'America/Cayenne',
  'SA Pacific Standard Time': 'America/Bogota',
  'SA Western Standard Time': 'America/La_Paz',
  'SE Asia Standard Time': 'Asia/Bangkok',
  'Saint Pierre Standard Time': 'America/Miquelon',
  'Sakhalin Standard Time': 'Asia/Sakhalin',
  'Samoa Standard Time': 'Pacific/Apia',
  'Sao Tome Standard Time': 'Africa/Sao_Tome',
  'Saratov Standard Time': 'Europe/Saratov',
  'Singapore Standard Time': 'Asia/Singapore',
  'South Africa Standard Time': 'Africa/Johannesburg',
  'South Sudan Standard Time': 'Africa/Juba',
  'Sri Lanka Standard Time': 'Asia/Colombo',
  'Sudan Standard Time': 'Africa/Khartoum',
  'Syria Standard Time': 'Asia/Damascus',
  'Taipei Standard Time': 'Asia/Taipei',
  'Tasmania Standard Time': 'Australia/Hobart',
  'Tocantins Standard Time': 'America/Araguaina',
  'Tokyo Standard Time': 'Asia/Tokyo',
  'Tomsk Standard Time': 'Asia/Tomsk',
  'Tonga Standard Time': 'Pacific/Tongatapu',
  'Transbaikal Standard Time': 'Asia/Chita',
  'Turkey Standard Time': 'Europe/Istanbul',
  'Turks And Caicos Standard Time': 'America/Grand_Turk',
  'US Eastern Standard Time': 'America/Indianapolis',
  'US Mountain Standard Time': 'America/Phoenix',
  UTC: 'Etc/UTC',
  'UTC+12': 'Etc/GMT-12',
  'UTC+13': 'Etc/GMT-13',
  'UTC-02': 'Etc/GMT+2',
  'UTC-08': 'Etc/GMT+8',
  'UTC-09': 'Etc/GMT+9',
  'UTC-11': 'Etc/GMT+11',
  'Ulaanbaatar Standard Time': 'Asia/Ulaanbaatar',
  'Venezuela Standard Time': 'America/Caracas',
  'Vladivostok Standard Time': 'Asia/Vladivostok',
  'Volgograd Standard Time': 'Europe/Volgograd',
  'W. Australia Standard Time': 'Australia/Perth',
  'W. Central Africa Standard Time': 'Africa/Lagos',
  'W. Europe Standard Time': 'Europe/Berlin',
  'W. Mongolia Standard Time': 'Asia/Hovd',
  'West Asia Standard Time': 'Asia/Tashkent',
  'West Bank Standard Time': 'Asia/Hebron',
  'West Pacific Standard Time': 'Pacific/Port_Moresby',
  'Yakutsk Standard Time': 'Asia/Yakutsk',
  'Yukon Standard Time': 'America/Whitehorse',
};

/**
 * Zones with many inhabitants. Of several zones that fit, the first of these is chosen, so that a change of law in a small
 * country does not move the events of a large one.
 */
export const LARGE_ZONES: readonly string[] = [
  'UTC',
  'Europe/Berlin',
  'Europe/London',
  'Europe/Paris',
  'Europe/Athens',
  'Europe/Moscow',
  'Europe/Istanbul',
  'America/New_York',
  'America/Chicago',
  'America/Denver',
  'America/Los_Angeles',
  'America/Phoenix',
  'America/Anchorage',
  'America/Halifax',
  'America/Sao_Paulo',
  'America/Bogota',
  'America/Mexico_City',
  'America/Caracas',
  'America/Santiago',
  'Africa/Lagos',
  'Africa/Johannesburg',
  'Africa/Nairobi',
  'Africa/Cairo',
  'Asia/Dubai',
  'Asia/Karachi',
  'Asia/Kolkata',
  'Asia/Dhaka',
  'Asia/Bangkok',
  'Asia/Shanghai',
  'Asia/Tokyo',
  'Australia/Sydney',
  'Australia/Brisbane',
  'Australia/Adelaide',
  'Australia/Darwin',
  'Pacific/Auckland',
  'Pacific/Honolulu',
];

/** Places in the names that Windows shows, which are neither names of CLDR nor cities of the IANA database. */
const PLACES: Readonly<Record<string, string>> = {
  'eastern time': 'America/New_York',
  'central time': 'America/Chicago',
  'mountain time': 'America/Denver',
  'pacific time': 'America/Los_Angeles',
  'atlantic time': 'America/Halifax',
  'alaska time': 'America/Anchorage',
  'hawaii time': 'Pacific/Honolulu',
  indiana: 'America/Indiana/Indianapolis',
  'baja california': 'America/Tijuana',
  'city of buenos aires': 'America/Argentina/Buenos_Aires',
  'cabo verde': 'Atlantic/Cape_Verde',
  'greenwich mean time': 'Europe/London',
  edinburgh: 'Europe/London',
  bern: 'Europe/Zurich',
  'western/central europe': 'Europe/Berlin',
  'western europe': 'Europe/Berlin',
  'central european time': 'Europe/Berlin',
  'eastern european time': 'Europe/Athens',
  'western european time': 'Europe/Lisbon',
  'west central africa': 'Africa/Lagos',
  'east africa': 'Africa/Nairobi',
  pretoria: 'Africa/Johannesburg',
  'st. petersburg': 'Europe/Moscow',
  'abu dhabi': 'Asia/Dubai',
  'port louis': 'Indian/Mauritius',
  ekaterinburg: 'Asia/Yekaterinburg',
  izhevsk: 'Europe/Samara',
  islamabad: 'Asia/Karachi',
  chennai: 'Asia/Kolkata',
  mumbai: 'Asia/Kolkata',
  'new delhi': 'Asia/Kolkata',
  nepal: 'Asia/Kathmandu',
  'sri jayawardenepura': 'Asia/Colombo',
  astana: 'Asia/Almaty',
  hanoi: 'Asia/Bangkok',
  beijing: 'Asia/Shanghai',
  'hong kong sar': 'Asia/Hong_Kong',
  ulaanbaatar: 'Asia/Ulaanbaatar',
  osaka: 'Asia/Tokyo',
  sapporo: 'Asia/Tokyo',
  'western australia': 'Australia/Perth',
  'central australia': 'Australia/Adelaide',
  'east australia': 'Australia/Brisbane',
  'solomon is.': 'Pacific/Guadalcanal',
  'new caledonia': 'Pacific/Noumea',
  'petropavlovsk-kamchatsky': 'Asia/Kamchatka',
  wellington: 'Pacific/Auckland',
  "nuku'alofa": 'Pacific/Tongatapu',
  'international date line west': 'Etc/GMT+12',
  // Names of Central Europe, where other countries use their own language.
  'mitteleuropäische zeit': 'Europe/Berlin',
  'mitteleuropäische normalzeit': 'Europe/Berlin',
  'mitteleuropäische sommerzeit': 'Europe/Berlin',
  'osteuropäische zeit': 'Europe/Athens',
  'westeuropäische zeit': 'Europe/Lisbon',
  'heure d’europe centrale': 'Europe/Paris',
  'heure normale d’europe centrale': 'Europe/Paris',
  'heure d’été d’europe centrale': 'Europe/Paris',
  'hora de europa central': 'Europe/Madrid',
  'hora estándar de europa central': 'Europe/Madrid',
  'hora de verano de europa central': 'Europe/Madrid',
  'ora dell’europa centrale': 'Europe/Rome',
  'ora standard dell’europa centrale': 'Europe/Rome',
  'ora legale dell’europa centrale': 'Europe/Rome',
  'midden-europese tijd': 'Europe/Amsterdam',
  'midden-europese standaardtijd': 'Europe/Amsterdam',
  'midden-europese zomertijd': 'Europe/Amsterdam',
  'czas środkowoeuropejski': 'Europe/Warsaw',
  'московское время': 'Europe/Moscow',
  // Names of former versions of Windows.
  'mexico standard time': 'America/Mexico_City',
  'mexico standard time 2': 'America/Mazatlan',
  'armenian standard time': 'Asia/Yerevan',
  'kamchatka standard time': 'Asia/Kamchatka',
  'mid-atlantic standard time': 'Etc/GMT+2',
};

/**
 * Abbreviations that files use as a TZID without a definition, by the zone of most of their users. Those of the IANA database (`EST`, `CET`)
 * are not among them. ICU understands some, as other places: `BST` as Dhaka, `AST` as Anchorage, `NST` as Auckland.
 */
const ABBREVIATIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    bst: 'Europe/London',
    west: 'Europe/Lisbon',
    cest: 'Europe/Berlin',
    mest: 'Europe/Berlin',
    mez: 'Europe/Berlin',
    mesz: 'Europe/Berlin',
    eest: 'Europe/Athens',
    msk: 'Europe/Moscow',
    nst: 'America/St_Johns',
    ndt: 'America/St_Johns',
    ast: 'America/Halifax',
    adt: 'America/Halifax',
    edt: 'America/New_York',
    cst: 'America/Chicago',
    cdt: 'America/Chicago',
    mdt: 'America/Denver',
    pst: 'America/Los_Angeles',
    pdt: 'America/Los_Angeles',
    akst: 'America/Anchorage',
    akdt: 'America/Anchorage',
    sast: 'Africa/Johannesburg',
    ist: 'Asia/Kolkata',
    hkt: 'Asia/Hong_Kong',
    sgt: 'Asia/Singapore',
    jst: 'Asia/Tokyo',
    kst: 'Asia/Seoul',
    awst: 'Australia/Perth',
    acst: 'Australia/Adelaide',
    acdt: 'Australia/Adelaide',
    aest: 'Australia/Sydney',
    aedt: 'Australia/Sydney',
    nzst: 'Pacific/Auckland',
    nzdt: 'Pacific/Auckland',
  }),
);

/** Last parts of IANA names that several countries have. */
const AMBIGUOUS: ReadonlySet<string> = new Set(['west', 'east', 'south', 'north', 'general', 'center']);

let zonesByPlace: Map<string, string> | undefined;

function places(): Map<string, string> {
  if (zonesByPlace) return zonesByPlace;
  zonesByPlace = new Map();
  for (const name of IANA_NAMES.toReversed()) {
    const place = name.split('/').at(-1)?.replaceAll('_', ' ').toLowerCase() ?? '';
    if (!name.includes('/') || name.startsWith('Etc/') || AMBIGUOUS.has(place)) continue;
    zonesByPlace.set(place, name);
  }
  for (const [title, name] of Object.entries(WINDOWS_ZONES)) {
    zonesByPlace.set(title.toLowerCase(), name);
    zonesByPlace.set(title.replace(/ Standard Time$/, '').toLowerCase(), name);
  }
  for (const [place, name] of Object.entries(PLACES)) zonesByPlace.set(place, name);
  return zonesByPlace;
}

/** `(UTC+01:00)`, `(GMT -5)`, `GMT+0530`: the offset that a title begins with, also in parts of an hour: `UTC+5.5`. */
const OFFSET =
  /^\(?\s*(?:UTC|GMT)\s*(?:([+\-\u2212\u2013])\s*(\d{1,2})(?:\.(25|50?|75)(?!\d)|[:.]?([0-5]\d))?)?\s*(?:\)|$)/i;
/** An offset alone. */
const PLAIN_OFFSET = /^([+\-\u2212\u2013])(\d{2}):?([0-5]\d)$/;
/** Two offsets, in winter and in summer: `GMT +0100 (Standard) / GMT +0200 (Daylight)`, `GMT-05:00/-04:00`, `GMT-05.00/-04.00`. */
const TWO_OFFSETS =
  /^(?:UTC|GMT)?\s*([+-])(\d{1,2})[:.]?([0-5]\d)?\s*(?:\([^)]*\))?\s*\/\s*(?:UTC|GMT)?\s*([+-])(\d{1,2})[:.]?([0-5]\d)?\s*(?:\([^)]*\))?$/i;
const TWO_ABBREVIATIONS = /^([a-z]{2,5})\s*\/\s*([a-z]{2,5})$/i;
/** Titles have up to 100 characters. The time to read a text grows with the square of its length, and a line of a file has megabytes. */
const MAX_TITLE = 200;
const SEPARATORS = /[,;:/]| and | & /;

/**
 * The zone of a title that a program shows instead of a name, such as `(UTC-05:00) Eastern Time (US & Canada)`,
 * `Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna` (Windows, Exchange) or `Western/Central Europe` (Lotus Notes). If no place is
 * known, the zone of the offset in the brackets. Null for another text, and for one that is too long for a title.
 */
export function zoneOfTitle(title: string): string | null {
  if (title.length > MAX_TITLE) return null;
  const [, winter = title, summer = title] = TWO_ABBREVIATIONS.exec(title) ?? [];
  const abbreviated = ABBREVIATIONS.get(summer.toLowerCase()) ?? ABBREVIATIONS.get(winter.toLowerCase());
  if (abbreviated !== undefined) return abbreviated;
  const both = TWO_OFFSETS.exec(title);
  if (both) return zoneOfOffsets(offsetOf(both.slice(1, 4)), offsetOf(both.slice(4)));
  const { offset, rest } = leadingOffset(title);
  const known = rest === '' ? [] : knownPlaces(rest);
  // A place whose zone had another offset when the title was written is skipped.
  const fitting = known.filter((name) => offset === null || standardOffset(name) === offset);
  const large = fitting.find((name) => LARGE_ZONES.includes(name));
  return large ?? fitting[0] ?? (offset === null ? null : zoneOfOffset(offset));
}

/** The offset in seconds that a title states, such as `UTC-03:30`, also one that no zone has all year; null without one. */
export const offsetOfTitle = (title: string): number | null =>
  title.length > MAX_TITLE ? null : leadingOffset(title).offset;

function leadingOffset(title: string): { offset: number | null; rest: string } {
  const match = OFFSET.exec(title);
  const [, sign, hours, part, minutes = part && String(Number(`0.${part}`) * 60)] = match ?? [];
  const plain = match ? null : PLAIN_OFFSET.exec(title);
  return {
    offset: match ? offsetOf([sign, hours, minutes]) : plain ? offsetOf(plain.slice(1)) : null,
    rest: title.slice((match ?? plain)?.[0].length ?? 0).trim(),
  };
}

function knownPlaces(text: string): string[] {
  const plain = text.replaceAll(/\s*\([^)]*\)/g, '').trim();
  const parts = [text, plain, ...plain.split(SEPARATORS)];
  return parts.flatMap((part) => {
    const place = part
      .trim()
      .replaceAll(/[\s_]+/g, ' ')
      .toLowerCase()
      .replace(/ - (?:old|new)$/, '')
      .replace(/ (?:daylight|summer) time\b/, ' standard time');
    // Programs number zones with one name and several definitions: `Eastern Standard Time 1`.
    const candidates = [place, place.replace(/ \d{1,2}$/, ''), place.replace(/ (?:islands?|is\.)$/, '')];
    return candidates.flatMap((each) => canonicalZone(places().get(each) ?? '') ?? []).slice(0, 1);
  });
}

function offsetOf([sign, hours, minutes = '0']: readonly (string | undefined)[]): number | null {
  if (sign === undefined) return 0;
  const size = Number(hours) * 3600 + Number(minutes) * 60;
  return size > 14 * 3600 ? null : sign === '+' ? size : -size;
}

/** The offsets of January and July of this year. */
function offsetsOf(name: string): number[] {
  const year = new Date().getUTCFullYear();
  const zone = Zone.of(name);
  return [0, 6].map((month) => zone.offsetAt(Date.UTC(year, month, 1) / 1000));
}

/** The smaller offset of this year: that without summer time. */
const standardOffset = (name: string): number => Math.min(...offsetsOf(name));

/** A large zone with these two offsets. */
function zoneOfOffsets(winter: number | null, summer: number | null): string | null {
  if (winter === null || summer === null) return null;
  if (winter === summer) return zoneOfOffset(winter);
  const all = LARGE_ZONES.filter(
    (name) =>
      offsetsOf(name)
        .toSorted((a, b) => a - b)
        .join() === [winter, summer].join(),
  );
  // Of the large zones with these offsets those of the northern half come first.
  return all.find((name) => offsetsOf(name)[0] === winter) ?? all[0] ?? null;
}

/** A zone that has one offset all year. */
function zoneOfOffset(offset: number): string | null {
  if (offset === 0) return 'UTC';
  const hours = offset / 3600;
  if (Number.isInteger(hours)) return canonicalZone(`Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}`);
  fixed ??= fixedZones();
  return fixed.get(offset) ?? null;
}

let fixed: ReadonlyMap<number, string> | undefined;

/** Zones without changes in the next year, by their offsets. */
function fixedZones(): Map<number, string> {
  const now = Date.now() / 1000;
  const all = [...LARGE_ZONES, ...Object.values(WINDOWS_ZONES)];
  const found = all.filter((name) => Zone.of(name).transitionsBetween(now, now + 370 * 86_400).length === 0);
  // The first zone of an offset wins.
  return new Map(found.toReversed().map((name) => [standardOffset(name), name]));
}

/** Names of a zone without a name, such as `Customized Time Zone` of Exchange. */
export const isUnnamedZone = (tzid: string): boolean =>
  /custom|unnamed|unknown time ?zone|no tz description|^\s*\(?none\)?\s*$/i.test(tzid);
