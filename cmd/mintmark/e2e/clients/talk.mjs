// The protocol between the scripts and their test: one JSON value per line. The test
// acts as the user.
import { createInterface } from 'node:readline'

export const args = JSON.parse(process.argv[2])

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

const say = (value) => process.stdout.write(JSON.stringify(value) + '\n')

// visit makes the user decide ("allow" or "cancel") at an authorization URL. It
// returns the redirect.
export async function visit(url, decision = 'allow') {
  say({ visit: String(url), decision })
  const { value } = await lines.next()
  return new URL(value)
}

// refusal returns the error of a rejected promise, and throws if it was not rejected.
export async function refusal(promise) {
  try {
    await promise
  } catch (err) {
    const challenge = Array.isArray(err.cause) ? err.cause[0] : undefined
    return {
      kind: err.constructor.name,
      code: err.code,
      error: err.error ?? challenge?.parameters?.error,
      status: err.status,
      scheme: challenge?.scheme,
      message: [err.message, err.cause?.message].join(' '),
    }
  }
  throw new Error('this was not refused')
}

// run ends the script with its result.
export async function run(story) {
  say({ result: await story() })
  process.exit(0)
}
