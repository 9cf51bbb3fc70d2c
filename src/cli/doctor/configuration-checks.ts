import type { Config } from '../../config/config.js';
import { Area, type Finding } from './finding.js';

const area = new Area('configuration');
const LOCAL = /^(?:localhost|127\.|\[::1\])/;

/** Checks settings that are valid but unsuitable for production. */
export function checkConfiguration(config: Config): Finding[] {
  const findings = [area.ok('All settings are valid.')];
  // The embedded database is for one machine and for trying the service out.
  if (config.embeddedDatabase) return findings;
  if (config.PUBLIC_URL === undefined)
    findings.push(
      area.warning(
        `PUBLIC_URL is missing: links and the issuer of tokens begin with ${config.publicUrl}.`,
        'Set PUBLIC_URL to the address that clients use.',
      ),
    );
  else if (config.PUBLIC_URL.startsWith('http://') && !LOCAL.test(new URL(config.PUBLIC_URL).host))
    findings.push(
      area.warning(
        'PUBLIC_URL begins with http://: passwords and tokens cross the network unencrypted.',
        'Terminate TLS in a proxy and set PUBLIC_URL to its https:// address.',
      ),
    );
  if (config.PUBLIC_URL?.startsWith('https://') && config.trustProxy === false)
    findings.push(
      area.warning(
        'TRUST_PROXY is false behind a proxy: limits of sign-ins count all users as one client.',
        'Set TRUST_PROXY to the address of the proxy or to the number of proxies.',
      ),
    );
  if (config.demo)
    findings.push(
      area.warning(
        'DEMO is true: the users of the demo workspace have a public password.',
        'Set DEMO=false and deactivate the demo users.',
      ),
    );
  return findings;
}
