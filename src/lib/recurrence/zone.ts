import { civilOf, DAY, dayOf, daysInYear, weekdayOf } from './civil.js';

/** Names of the IANA time zone database (version 2025b, public domain), current and former ones, by their first part. */
const NAMES: Readonly<Record<string, string>> = {
  Africa: `Abidjan Accra Addis_Ababa Algiers Asmara Asmera Bamako Bangui Banjul Bissau Blantyre Brazzaville Bujumbura
    Cairo Casablanca Ceuta Conakry Dakar Dar_es_Salaam Djibouti Douala El_Aaiun Freetown Gaborone Harare
    Johannesburg Juba Kampala Khartoum Kigali Kinshasa Lagos Libreville Lome Luanda Lubumbashi Lusaka Malabo
    Maputo Maseru Mbabane Mogadishu Monrovia Nairobi Ndjamena Niamey Nouakchott Ouagadougou Porto-Novo Sao_Tome
    Timbuktu Tripoli Tunis Windhoek`,
  America: `Adak Anchorage Anguilla Antigua Araguaina Argentina/Buenos_Aires Argentina/Catamarca
    Argentina/ComodRivadavia Argentina/Cordoba Argentina/Jujuy Argentina/La_Rioja Argentina/Mendoza
    Argentina/Rio_Gallegos Argentina/Salta Argentina/San_Juan Argentina/San_Luis Argentina/Tucuman
    Argentina/Ushuaia Aruba Asuncion Atikokan Atka Bahia Bahia_Banderas Barbados Belem Belize Blanc-Sablon
    Boa_Vista Bogota Boise Buenos_Aires Cambridge_Bay Campo_Grande Cancun Caracas Catamarca Cayenne Cayman
    Chicago Chihuahua Ciudad_Juarez Coral_Harbour Cordoba Costa_Rica Coyhaique Creston Cuiaba Curacao
    Danmarkshavn Dawson Dawson_Creek Denver Detroit Dominica Edmonton Eirunepe El_Salvador Ensenada Fort_Nelson
    Fort_Wayne Fortaleza Glace_Bay Godthab Goose_Bay Grand_Turk Grenada Guadeloupe Guatemala Guayaquil Guyana
    Halifax Havana Hermosillo Indiana/Indianapolis Indiana/Knox Indiana/Marengo Indiana/Petersburg
    Indiana/Tell_City Indiana/Vevay Indiana/Vincennes Indiana/Winamac Indianapolis Inuvik Iqaluit Jamaica Jujuy
    Juneau Kentucky/Louisville Kentucky/Monticello Knox_IN Kralendijk La_Paz Lima Los_Angeles Louisville
    Lower_Princes Maceio Managua Manaus Marigot Martinique Matamoros Mazatlan Mendoza Menominee Merida
    Metlakatla Mexico_City Miquelon Moncton Monterrey Montevideo Montreal Montserrat Nassau New_York Nipigon
    Nome Noronha North_Dakota/Beulah North_Dakota/Center North_Dakota/New_Salem Nuuk Ojinaga Panama Pangnirtung
    Paramaribo Phoenix Port-au-Prince Port_of_Spain Porto_Acre Porto_Velho Puerto_Rico Punta_Arenas Rainy_River
    Rankin_Inlet Recife Regina Resolute Rio_Branco Rosario Santa_Isabel Santarem Santiago Santo_Domingo
    Sao_Paulo Scoresbysund Shiprock Sitka St_Barthelemy St_Johns St_Kitts St_Lucia St_Thomas St_Vincent
    Swift_Current Tegucigalpa Thule Thunder_Bay Tijuana Toronto Tortola Vancouver Virgin Whitehorse Winnipeg
    Yakutat Yellowknife`,
  Antarctica: `Casey Davis DumontDUrville Macquarie Mawson McMurdo Palmer Rothera South_Pole Syowa Troll Vostok`,
  Arctic: `Longyearbyen`,
  Asia: `Aden Almaty Amman Anadyr Aqtau Aqtobe Ashgabat Ashkhabad Atyrau Baghdad Bahrain Baku Bangkok Barnaul Beirut
    Bishkek Brunei Calcutta Chita Choibalsan Chongqing Chungking Colombo Dacca Damascus Dhaka Dili Dubai
    Dushanbe Famagusta Gaza Harbin Hebron Ho_Chi_Minh Hong_Kong Hovd Irkutsk Istanbul Jakarta Jayapura Jerusalem
    Kabul Kamchatka Karachi Kashgar Kathmandu Katmandu Khandyga Kolkata Krasnoyarsk Kuala_Lumpur Kuching Kuwait
    Macao Macau Magadan Makassar Manila Muscat Nicosia Novokuznetsk Novosibirsk Omsk Oral Phnom_Penh Pontianak
    Pyongyang Qatar Qostanay Qyzylorda Rangoon Riyadh Saigon Sakhalin Samarkand Seoul Shanghai Singapore
    Srednekolymsk Taipei Tashkent Tbilisi Tehran Tel_Aviv Thimbu Thimphu Tokyo Tomsk Ujung_Pandang Ulaanbaatar
    Ulan_Bator Urumqi Ust-Nera Vientiane Vladivostok Yakutsk Yangon Yekaterinburg Yerevan`,
  Atlantic: `Azores Bermuda Canary Cape_Verde Faeroe Faroe Jan_Mayen Madeira Reykjavik South_Georgia St_Helena Stanley`,
  Australia: `ACT Adelaide Brisbane Broken_Hill Canberra Currie Darwin Eucla Hobart LHI Lindeman Lord_Howe Melbourne NSW
    North Perth Queensland South Sydney Tasmania Victoria West Yancowinna`,
  Brazil: `Acre DeNoronha East West`,
  '': `CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland
    Iran Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC
    ROK Singapore Turkey UCT UTC Universal W-SU WET Zulu`,
  Canada: `Atlantic Central Eastern Mountain Newfoundland Pacific Saskatchewan Yukon`,
  Chile: `Continental EasterIsland`,
  Etc: `GMT GMT+0 GMT+1 GMT+10 GMT+11 GMT+12 GMT+2 GMT+3 GMT+4 GMT+5 GMT+6 GMT+7 GMT+8 GMT+9 GMT-0 GMT-1 GMT-10
    GMT-11 GMT-12 GMT-13 GMT-14 GMT-2 GMT-3 GMT-4 GMT-5 GMT-6 GMT-7 GMT-8 GMT-9 GMT0 Greenwich UCT UTC Universal
    Zulu`,
  Europe: `Amsterdam Andorra Astrakhan Athens Belfast Belgrade Berlin Bratislava Brussels Bucharest Budapest Busingen
    Chisinau Copenhagen Dublin Gibraltar Guernsey Helsinki Isle_of_Man Istanbul Jersey Kaliningrad Kiev Kirov
    Kyiv Lisbon Ljubljana London Luxembourg Madrid Malta Mariehamn Minsk Monaco Moscow Nicosia Oslo Paris
    Podgorica Prague Riga Rome Samara San_Marino Sarajevo Saratov Simferopol Skopje Sofia Stockholm Tallinn
    Tirane Tiraspol Ulyanovsk Uzhgorod Vaduz Vatican Vienna Vilnius Volgograd Warsaw Zagreb Zaporozhye Zurich`,
  Indian: `Antananarivo Chagos Christmas Cocos Comoro Kerguelen Mahe Maldives Mauritius Mayotte Reunion`,
  Mexico: `BajaNorte BajaSur General`,
  Pacific: `Apia Auckland Bougainville Chatham Chuuk Easter Efate Enderbury Fakaofo Fiji Funafuti Galapagos Gambier
    Guadalcanal Guam Honolulu Johnston Kanton Kiritimati Kosrae Kwajalein Majuro Marquesas Midway Nauru Niue
    Norfolk Noumea Pago_Pago Palau Pitcairn Pohnpei Ponape Port_Moresby Rarotonga Saipan Samoa Tahiti Tarawa
    Tongatapu Truk Wake Wallis Yap`,
  US: `Alaska Aleutian Arizona Central East-Indiana Eastern Hawaii Indiana-Starke Michigan Mountain Pacific Samoa`,
};

const byLowerCase = new Map<string, string>(
  Object.entries(NAMES)
    .flatMap(([area, list]) => list.split(/\s+/).map((name) => (area ? `${area}/${name}` : name)))
    .map((name) => [name.toLowerCase(), name]),
);

/** All names, current and former ones. */
export const IANA_NAMES: readonly string[] = [...byLowerCase.values()];

/** The name in the spelling of the IANA database, e.g. `Europe/Kyiv` for `europe/kyiv`; undefined for an unknown one. */
export const ianaSpelling = (name: string): string | undefined => byLowerCase.get(name.toLowerCase());

/** A change of a zone's offset. All values are seconds; `at` is the instant of the change. */
export interface Transition {
  at: number;
  before: number;
  after: number;
}

/** Times from `from` (inclusive) to `to` (exclusive) with one offset, in seconds. */
interface Span {
  from: number;
  to: number;
  offset: number;
}

/** The offsets of a zone in one year, by wall time and by instant, and the changes between them. */
interface ZoneYear {
  walls: readonly Span[];
  instants: readonly Span[];
  transitions: readonly Transition[];
}

/** Offsets are sampled at this distance. A change that is reverted within it would be missed, but no zone has one. */
const SAMPLE = 7 * DAY;
/** No zone is further from UTC than this. */
const MAX_OFFSET = 26 * 3600;
const MAX_CACHED_ZONES = 700;
/** Before this year no zone changed twice within a year: the first summer times are those of 1916. */
const FIRST_SEASONS = 1900;
/** From this year on each change depends on nothing but the calendar of its year: the last table, that of Morocco, ends in 2087. */
const FIRST_RULE_YEAR = 2100;
/** Years of a zone. Events may be anywhere between 1900 and 9989. */
const MAX_CACHED_YEARS = 150;
const MAX_CACHED_NAMES = 2_000;
const NO_SPAN: Span = { from: 0, to: 0, offset: 0 };

/**
 * The rules of an IANA time zone, read from the runtime's own data (ICU by `Intl`) and cached by year. Wall times follow
 * RFC 5545, 3.3.5: a time in the gap of a forward change takes the offset before the gap, a time that occurs twice is the
 * first of the two.
 */
export class Zone {
  private static readonly cache = new Map<string, Zone>();
  private readonly years = new Map<number, ZoneYear>();
  private readonly format: Intl.DateTimeFormat;
  /** The span of the last look-up: most look-ups are in the same summer or winter. */
  private wallSpan = NO_SPAN;
  private instantSpan = NO_SPAN;

  private constructor(readonly name: string) {
    this.format = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
      timeZone: name,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
  }

  /** @throws RangeError for a name that the runtime does not know */
  static of(name: string): Zone {
    const known = Zone.cache.get(name);
    if (known) return known;
    const zone = new Zone(name);
    // The cache is bounded, because callers may vary the letter case of names.
    if (Zone.cache.size >= MAX_CACHED_ZONES) Zone.cache.clear();
    Zone.cache.set(name, zone);
    return zone;
  }

  /** Seconds east of UTC at an instant (seconds since the epoch). */
  offsetAt(instant: number): number {
    const { instantSpan } = this;
    if (instant >= instantSpan.from && instant < instantSpan.to) return instantSpan.offset;
    this.instantSpan = spanAt(this.yearAt(instant).instants, instant);
    return this.instantSpan.offset;
  }

  /** The instant of a wall time, both in seconds. */
  toInstant(wall: number): number {
    const { wallSpan } = this;
    if (wall >= wallSpan.from && wall < wallSpan.to) return wall - wallSpan.offset;
    this.wallSpan = spanAt(this.yearAt(wall).walls, wall);
    return wall - this.wallSpan.offset;
  }

  /** The wall time of an instant, both in seconds. */
  toWall(instant: number): number {
    return instant + this.offsetAt(instant);
  }

  /** Changes of the offset from `from` (inclusive) to `to` (exclusive), in order; instants in seconds. */
  transitionsBetween(from: number, to: number): Transition[] {
    const first = civilOf(Math.floor(from / DAY)).year;
    const last = civilOf(Math.floor(to / DAY)).year;
    const found: Transition[] = [];
    for (let year = first; year <= last; year += 1)
      for (const transition of this.year(year).transitions)
        if (transition.at >= from && transition.at < to) found.push(transition);
    return found;
  }

  private yearAt(time: number): ZoneYear {
    return this.year(civilOf(Math.floor(time / DAY)).year);
  }

  private year(year: number): ZoneYear {
    const like = alikeYear(year);
    if (like !== year) return moveYear(this.year(like), like, year);
    const known = this.years.get(year);
    if (known) return known;
    const created = this.measureYear(year);
    if (this.years.size >= MAX_CACHED_YEARS) this.years.clear();
    this.years.set(year, created);
    return created;
  }

  private measureYear(year: number): ZoneYear {
    const from = dayOf(year, 1, 1) * DAY;
    const to = dayOf(year + 1, 1, 1) * DAY;
    // Wall times of the year may be instants of its neighbours, and the other way around.
    const first = this.measure(from - MAX_OFFSET);
    const step = year < FIRST_SEASONS ? to - from + 2 * MAX_OFFSET : SAMPLE;
    const changes = this.changesBetween(from - MAX_OFFSET, to + MAX_OFFSET, first, step);
    return {
      // A wall time in a gap and the first of two equal ones take the offset before the change.
      walls: spans(from, to, first, changes, ({ at, before, after }) => at + Math.max(before, after)),
      instants: spans(from, to, first, changes, ({ at }) => at),
      transitions: changes.filter(({ at }) => at >= from && at < to),
    };
  }

  private changesBetween(from: number, to: number, first: number, step: number): Transition[] {
    const found: Transition[] = [];
    let offset = first;
    for (let at = from; at < to;) {
      const next = Math.min(at + step, to);
      const later = this.measure(next);
      if (later !== offset)
        found.push({ at: this.changeBetween(at, next, offset), before: offset, after: later });
      at = next;
      offset = later;
    }
    return found;
  }

  private changeBetween(from: number, to: number, offset: number): number {
    let low = from;
    let high = to;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.measure(middle) === offset) low = middle;
      else high = middle;
    }
    return high;
  }

  /** The offset that ICU gives for an instant, in seconds: without the cache, for a zone that is asked once. */
  measure(instant: number): number {
    const text = this.format.format(instant * 1000);
    const [, month, day, year, era, hour, minute, second] =
      /^(\d+)\/(\d+)\/(\d+) (\w+), (\d+):(\d+):(\d+)$/.exec(text) ?? [];
    const civilYear = era === 'BC' || era === 'B' ? 1 - Number(year) : Number(year);
    const wall =
      dayOf(civilYear, Number(month), Number(day)) * DAY +
      Number(hour) * 3600 +
      Number(minute) * 60 +
      Number(second);
    return wall - instant;
  }
}

/** A year near FIRST_RULE_YEAR with the same calendar, for a year after it; otherwise the year itself. */
function alikeYear(year: number): number {
  if (year < FIRST_RULE_YEAR) return year;
  const isAlike = (other: number): boolean =>
    daysInYear(other) === daysInYear(year) && weekdayOf(dayOf(other, 1, 1)) === weekdayOf(dayOf(year, 1, 1));
  let like = FIRST_RULE_YEAR;
  while (!isAlike(like)) like += 1;
  return like;
}

function moveYear(from: ZoneYear, year: number, to: number): ZoneYear {
  const by = (dayOf(to, 1, 1) - dayOf(year, 1, 1)) * DAY;
  const movedSpan = (span: Span): Span => ({ ...span, from: span.from + by, to: span.to + by });
  return {
    walls: from.walls.map(movedSpan),
    instants: from.instants.map(movedSpan),
    transitions: from.transitions.map((change) => ({ ...change, at: change.at + by })),
  };
}

/** The parts of a period that the changes of the offset separate. */
function spans(
  from: number,
  to: number,
  first: number,
  changes: readonly Transition[],
  boundaryOf: (change: Transition) => number,
): Span[] {
  const found: Span[] = [];
  let current = { from, to, offset: first };
  for (const change of changes) {
    const at = boundaryOf(change);
    if (at >= to) break;
    if (at > from) found.push({ ...current, to: at });
    current = { from: Math.max(at, from), to, offset: change.after };
  }
  found.push(current);
  return found;
}

function spanAt(all: readonly Span[], time: number): Span {
  let found = all[0] as Span;
  for (const span of all) if (time >= span.from) found = span;
  return found;
}

const canonical = new Map<string, string | null>();

/**
 * The name of a time zone in the spelling of the IANA database, e.g. `Europe/Berlin` for `europe/berlin`. A former name stays, because
 * clients compare the response with the name that they sent.
 * @returns null for an unknown name, for offsets such as `+01:00`, which are no zones, and for the names that ICU knows beyond IANA
 *   (abbreviations of Java's first release, SystemV): `BST` is Dhaka there, `AST` Anchorage, `NST` Auckland
 */
export function canonicalZone(name: string): string | null {
  const known = canonical.get(name);
  if (known !== undefined) return known;
  const result = spellingOf(name);
  // The cache is bounded, because files may contain any number of unknown names.
  if (canonical.size >= MAX_CACHED_NAMES) canonical.clear();
  canonical.set(name, result);
  return result;
}

function spellingOf(name: string): string | null {
  if (!/^[A-Za-z][\w+\-/]{0,63}$/.test(name)) return null;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    const spelling = ianaSpelling(name);
    // Only places are added to the database.
    if (spelling === undefined && (!name.includes('/') || /^systemv\//i.test(name))) return null;
    return spelling ?? (timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name);
  } catch {
    return null;
  }
}

/** Whether the value is the name of a time zone, e.g. `Europe/Berlin`; not an offset, which has no daylight saving time. */
export const isTimeZone = (value: unknown): value is string =>
  typeof value === 'string' && canonicalZone(value) !== null;

/** A name that is stored, which an earlier release may have accepted: itself if the runtime knows it, otherwise `UTC`. */
export function readableZone(name: string): string {
  try {
    return Zone.of(name).name;
  } catch {
    return 'UTC';
  }
}
