/** Advisory lock that running backups, exports and imports of workspaces hold, shared, in each of their databases. */
export const BACKUP_LOCK = { classId: 7_706_114, objectId: 1 } as const;

/** Advisory lock that the one running backup of an installation holds in the database of the directory. */
export const ONLY_BACKUP_LOCK = { classId: 7_706_114, objectId: 2 } as const;

/**
 * SQL condition of collectors: no backup runs, nor an import. A backup reads the rows first and copies the files after that, so files
 * that its rows refer to must stay. It takes the lock before its snapshot: a blob that was released earlier is not in the backup. An
 * import copies files before the rows that refer to them.
 */
export const NO_BACKUP_RUNS = `NOT EXISTS (
  SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = ${BACKUP_LOCK.classId} AND objid = ${BACKUP_LOCK.objectId}
     AND objsubid = 2 AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`;
