// Package cloud is what the SDKs of clouds are needed for: the signatures of Amazon
// Bedrock, the tokens of Azure's Entra ID and those of Google Vertex AI. A program that
// imports it compiles those SDKs and may pass its values to skillopt.WithClouds; the
// command has them when it is built with -tags cloud. It knows nothing about models,
// configurations and what is sent.
package cloud
