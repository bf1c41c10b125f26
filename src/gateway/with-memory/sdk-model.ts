/**
 * The AI SDK's language model interface as far as it is used here: versions 2, 3 and 4 of the
 * specification, declared without the SDK.
 */

export interface SdkPart {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface SdkMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  /** Text in a system message, parts in the others. */
  readonly content: string | readonly SdkPart[];
}

export interface SdkCall {
  readonly prompt: readonly SdkMessage[];
  readonly abortSignal?: AbortSignal;
  readonly [option: string]: unknown;
}

export interface SdkAnswer {
  readonly content: readonly SdkPart[];
  readonly usage?: unknown;
  readonly [field: string]: unknown;
}

export interface SdkStream {
  readonly stream: ReadableStream<SdkPart>;
  readonly [field: string]: unknown;
}

export interface SdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls?: unknown;
  doGenerate(call: SdkCall): PromiseLike<SdkAnswer>;
  doStream(call: SdkCall): PromiseLike<SdkStream>;
}
