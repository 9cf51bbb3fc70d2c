/** Where the application keeps the refresh token: `localStorage`, `sessionStorage`, a key chain, an encrypted file. */
export interface TokenStorage {
  getItem(key: string): string | null | undefined | Promise<string | null | undefined>;
  setItem(key: string, value: string): unknown;
  removeItem(key: string): unknown;
}

/** Keeps tokens until the page or the process ends. */
export class MemoryStorage implements TokenStorage {
  private readonly items = new Map<string, string>();

  getItem(key: string): string | undefined {
    return this.items.get(key);
  }

  setItem(key: string, value: string): void {
    this.items.set(key, value);
  }

  removeItem(key: string): void {
    this.items.delete(key);
  }
}
