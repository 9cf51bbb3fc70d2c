export class JwkResponse {
  /** @example "EC" */ kty!: string;
  /** @example "P-256" */ crv!: string;
  /** @example "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU" */ x!: string;
  /** @example "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0" */ y!: string;
  /** @example "01890a5d-ac96-774b-bcce-b302099a8057" */ kid!: string;
  /** @example "ES256" */ alg!: string;
  /** @example "sig" */ use!: string;
}

/** A JSON Web Key Set, RFC 7517. */
export class JwksResponse {
  keys!: JwkResponse[];
}
