const ISSUER_ACR = 'urn:workspace:issuer:';

/** The mark of a sign-in by an issuer, which the provider stores with the browser session as `acr`. Clients never see it. */
export const acrOf = ({ tenantId, id }: { tenantId: string; id: string }): string =>
  `${ISSUER_ACR}${tenantId}:${id}`;

/** The issuer of a mark; null for a sign-in by this service. */
export function issuerOf(acr: string | undefined): { tenantId: string; id: string } | null {
  if (!acr?.startsWith(ISSUER_ACR)) return null;
  const [tenantId = '', id = ''] = acr.slice(ISSUER_ACR.length).split(':');
  return { tenantId, id };
}
