/** Builds, containers, clusters, machines. */

import { type Dialogue, dialogue } from "./session.ts";

export const INFRA_SESSIONS: readonly Dialogue[] = [
  dialogue(
    "infra-ci-cache",
    "2026-01-08",
    "platform",
    `
user: The pipeline takes 22 minutes, and 9 of them are npm ci. Can we cache that?
assistant: The cache key contains the commit, so it never hits. It should be the hash of package-lock.json.
tool Edit: .github/workflows/build.yml
assistant: Installing takes 40 seconds on a hit. I also split unit and browser tests into two jobs that run side by side: 8 minutes in all.
`,
  ),
  dialogue(
    "infra-oomkilled",
    "2026-01-14",
    "platform",
    `
user: The api pods restart every few hours with exit code 137.
assistant: 137 is SIGKILL; kubectl describe says OOMKilled. The limit is 512Mi, but Node may use more than that for its heap alone.
user: Is there a leak?
assistant: No, the heap levels off at 600 MB. I raised the limit to 1Gi and set --max-old-space-size to 768.
`,
  ),
  dialogue(
    "infra-crashloop",
    "2026-01-22",
    "platform",
    `
user: After the config change the worker is in CrashLoopBackOff.
tool Bash: kubectl logs worker-6f7 --previous
assistant: "Error: connect ECONNREFUSED 127.0.0.1:6379". It looks for Redis on localhost, because REDIS_URL is in the secret that the new deployment does not mount.
user: Mount it again.
assistant: Done, it runs. A readiness probe now fails while Redis cannot be reached.
`,
  ),
  dialogue(
    "infra-docker-size",
    "2026-01-29",
    "platform",
    `
user: Our image is 2.3 GB. Make it small.
assistant: It is the full Debian image with compilers and the development dependencies. A multi-stage build with distroless as the last stage would do.
tool Write: Dockerfile
assistant: 148 MB. There is no shell in it any more; debugging works with an ephemeral container.
`,
  ),
  dialogue(
    "infra-cert",
    "2026-02-06",
    "platform",
    `
user: The staging site shows NET::ERR_CERT_DATE_INVALID since this morning.
assistant: The certificate ran out at 07:12. cert-manager could not renew it, because port 80 is closed since last week's firewall change and the HTTP-01 challenge needs it.
user: Can we do without port 80?
assistant: Yes, with DNS-01. I gave the issuer a token for the zone, and an alarm now rings 14 days before any certificate expires.
`,
  ),
  dialogue(
    "infra-terraform-lock",
    "2026-02-13",
    "platform",
    `
user: terraform apply says "Error acquiring the state lock" and nobody is running anything.
assistant: The lock belongs to a pipeline that was cancelled yesterday at 17:40. It died before it could release it.
user: Is it safe to force it?
assistant: The run had not changed anything yet, its plan was empty. I ran terraform force-unlock with that lock's id, and the pipeline now gets a minute to shut down when it is cancelled.
`,
  ),
  dialogue(
    "infra-backup",
    "2026-02-19",
    "platform",
    `
user: When did we last test restoring a backup?
assistant: I find no trace of that ever happening.
user: Let's do it then.
assistant: I restored last night's dump into a scratch instance: 51 minutes, all row counts agree. But the extension pgcrypto was missing, which the script now creates first. A job repeats this every Sunday and reports to the channel.
`,
  ),
  dialogue(
    "infra-disk-full",
    "2026-02-27",
    "platform",
    `
user: ENOSPC: no space left on device, on build-03.
tool Bash: df -h && du -xsh /var/lib/*
assistant: /var/lib/docker has 380 GB of old layers. docker system prune freed 340 of them.
user: And next month again?
assistant: A timer prunes everything older than a week, each night at 3.
`,
  ),
  dialogue(
    "infra-git-bisect",
    "2026-03-05",
    "platform",
    `
user: Startup got slower somewhere between v4.2.0 and v4.5.1. Find the commit.
tool Bash: git bisect run ./scripts/measure-startup.sh
assistant: It is 9f3c2ab1, "load plugins eagerly". It reads every plugin's manifest from disk before the server listens.
user: Revert it?
assistant: Rather load them on first use. Startup is back from 6.2 to 1.1 seconds.
`,
  ),
  dialogue(
    "infra-dns",
    "2026-03-11",
    "platform",
    `
user: Every few minutes a request to the payment service takes exactly five seconds longer.
assistant: Exactly five seconds smells like a DNS timeout. With ndots:5 each name is tried with five suffixes first, and one of the lookups is lost.
assistant: I added a dot at the end of the host name and enabled the node-local cache. The spikes are gone since 14:00.
`,
  ),
  dialogue(
    "infra-secrets",
    "2026-03-20",
    "platform",
    `
user: Somebody committed the .env file. What now?
assistant: First make it worthless: I would rotate all four credentials in it today. Rewriting the history comes second; forks and clones keep the old one.
user: Rotated. And so that it does not happen again?
assistant: gitleaks runs as a pre-commit hook and in the pipeline, and .env is in .gitignore.
`,
  ),
];
