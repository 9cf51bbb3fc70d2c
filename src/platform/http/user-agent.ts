/** A browser and its operating system, as a User-Agent header names them. */
export interface BrowserName {
  /** Null means unknown. */
  browser: string | null;
  /** Null means unknown. */
  system: string | null;
}

// The order matters, because Edge and Opera also name Chrome, and Chrome also names Safari.
const BROWSERS: readonly [RegExp, string][] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|Chromium|CriOS)\//, 'Chrome'],
  [/\bVersion\/[\d.]+ .*Safari\//, 'Safari'],
];

// The order matters, because Android also names Linux, and iOS also names Mac OS X.
const SYSTEMS: readonly [RegExp, string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(?:iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** Returns known names only, because mails must not contain text that a client has chosen. */
export function browserName(userAgent: string | null | undefined): BrowserName {
  const text = (userAgent ?? '').slice(0, 400);
  const find = (names: typeof BROWSERS) => names.find(([pattern]) => pattern.test(text))?.[1] ?? null;
  return { browser: find(BROWSERS), system: find(SYSTEMS) };
}
