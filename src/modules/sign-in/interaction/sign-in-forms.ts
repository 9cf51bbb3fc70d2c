import { Injectable } from '@nestjs/common';
import express, { type Request, type Response } from 'express';
import { Keyring } from '../../../platform/secrets/keyring.js';

const BODY = { limit: '16kb', parameterLimit: 20, extended: false };
const TOKEN_BYTES = 16;

/** The forms of the sign-in pages: their fields, and their protection against requests from other sites. */
@Injectable()
export class SignInForms {
  private readonly parse = express.urlencoded(BODY);

  constructor(private readonly keyring: Keyring) {}

  /** The CSRF token of the forms of one interaction. */
  token(interactionId: string): string {
    return this.keyring.sign('sign-in form', interactionId, TOKEN_BYTES).toString('base64url');
  }

  /** Whether the form is from this site: it has the CSRF token, and Sec-Fetch-Site names no other site. */
  isSameSite(request: Request, interactionId: string, fields: (name: string) => string): boolean {
    const site = request.headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
    const token = Buffer.from(fields('csrf').slice(0, 100), 'base64url');
    return token.length === TOKEN_BYTES && this.keyring.verify('sign-in form', interactionId, token);
  }

  /** Returns the fields of the form; missing and repeated fields are empty. */
  async fields(request: Request, response: Response): Promise<(name: string) => string> {
    await new Promise<void>((resolve, reject) => {
      this.parse(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
    });
    const body = Object(request.body) as Record<string, unknown>;
    return (name) => {
      const value = Object.hasOwn(body, name) ? body[name] : undefined;
      return typeof value === 'string' ? value : '';
    };
  }
}

/** JSON of a form field; null if it is malformed. */
export function parseField(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
