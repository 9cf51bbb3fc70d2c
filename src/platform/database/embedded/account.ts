import { lchown, lstat, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Binaries } from './binaries.js';
import { codeOf, EmbeddedDatabaseError } from './errors.js';
import { type Command, runProgram } from './run-program.js';

const CREATE_POSTGRES_USER = [
  {
    file: 'useradd',
    args: '--system --user-group --no-create-home --shell /usr/sbin/nologin postgres'.split(' '),
  },
  { file: 'adduser', args: '-S -D -H postgres'.split(' ') },
];

/** The order is that of preference. The first suffices to pass through a directory; some containers grant only the second. */
const CAPABILITIES = ['dac_read_search', 'dac_override'];

interface User {
  uid: number;
  gid: number;
}

/**
 * The system account PostgreSQL runs as. PostgreSQL does not run as root, so for root this is another account; otherwise
 * it is the account of this process.
 */
export class Account {
  private constructor(
    private readonly user: User | undefined,
    /** A program and its arguments that run the actual command; empty when switching the user suffices. */
    private readonly wrapper: string[] = [],
  ) {}

  /**
   * @param dataDir must exist
   * @param cluster the database directory; an existing one keeps its owner
   */
  static async choose(dataDir: string, cluster: string, binaries: Binaries): Promise<Account> {
    if (process.getuid?.() !== 0) return new Account(undefined);
    const user = (await ownerOf(cluster)) ?? (await postgresUser());
    return Account.reaching(dataDir, binaries, user);
  }

  /** `file args` as this account. */
  command(file: string, args: string[]): Command {
    const [wrapper, ...rest] = this.wrapper;
    if (wrapper !== undefined) return { file: wrapper, args: [...rest, file, ...args], options: {} };
    return { file, args, options: this.user ?? {} };
  }

  /** The numeric id of the account. */
  get uid(): number | undefined {
    return this.user?.uid ?? process.getuid?.();
  }

  /** Makes the account the owner of a directory and its contents. The directory comes last, so that an interrupted run is repeated. */
  async give(directory: string): Promise<void> {
    if (!this.user || (await lstat(directory)).uid === this.user.uid) return;
    const { uid, gid } = this.user;
    for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
      await lchown(path.join(entry.parentPath, entry.name), uid, gid).catch((error: unknown) => {
        // A server that another process has started meanwhile removes files.
        if (codeOf(error) !== 'ENOENT') throw error;
      });
    }
    await lchown(directory, uid, gid);
  }

  /**
   * The other account cannot enter a clone below a private directory such as /root. The mode of that directory stays as
   * it is; the process gets the one capability that lets it pass through.
   */
  private static async reaching(dataDir: string, binaries: Binaries, user: User): Promise<Account> {
    const candidates = [
      new Account(user),
      ...CAPABILITIES.map((capability) => new Account(user, setpriv(user, capability))),
    ];
    for (const account of candidates) {
      // `initdb -s` prints its settings and changes nothing, but first looks for its sibling programs and files.
      const script = 'cd "$1" && exec "$2" -s -D "$1"';
      const probe = account.command('/bin/sh', ['-c', script, 'sh', dataDir, binaries.initdb]);
      const { code } = await runProgram(probe);
      if (code === 0) return account;
    }
    throw new EmbeddedDatabaseError(
      `PostgreSQL does not run as root, and as user id ${user.uid} it cannot reach ${dataDir} or ${binaries.postgres}: ` +
        'move DATA_DIR and this directory to a place other users can enter (such as /srv), or install `setpriv` (util-linux).',
    );
  }
}

function setpriv({ uid, gid }: User, capability: string): string[] {
  const only = `-all,+${capability}`;
  return [
    'setpriv',
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    `--inh-caps=${only}`,
    `--ambient-caps=${only}`,
    `--bounding-set=${only}`,
    // Without it access(2), which initdb calls for its programs, ignores the capability.
    '--securebits=+no_setuid_fixup',
  ];
}

async function ownerOf(cluster: string): Promise<User | undefined> {
  const found = await stat(cluster).catch(() => undefined);
  // A cluster that root owns was copied by root. `give` restores its owner.
  return found && found.uid !== 0 ? { uid: found.uid, gid: found.gid } : undefined;
}

async function postgresUser(): Promise<User> {
  const existing = await lookUp('postgres');
  if (existing) return existing;
  for (const command of CREATE_POSTGRES_USER) {
    await runProgram({ ...command, options: {} });
    const created = await lookUp('postgres');
    if (created) return created;
  }
  const nobody = await lookUp('nobody');
  if (nobody) return nobody;
  throw new EmbeddedDatabaseError(
    'PostgreSQL does not run as root and there is no user `postgres`: create it, or start as an ordinary user.',
  );
}

async function lookUp(name: string): Promise<User | undefined> {
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map((flag) => runProgram({ file: 'id', args: [flag, name], options: {} })),
  );
  if (uid?.code !== 0 || gid?.code !== 0) return undefined;
  return { uid: Number(uid.output.trim()), gid: Number(gid.output.trim()) };
}
